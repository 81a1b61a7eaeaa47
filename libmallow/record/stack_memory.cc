#include "record/stack_memory.h"

#include "os/readable.h"

namespace mallow::record {

namespace {

constexpr uintptr_t kPage = 4096;  // the smallest page of the platform
// An own range is stretched over at most so much at once; a frame further away is asked about alone.
constexpr uintptr_t kFarthestUp = uintptr_t{256} << 20;
constexpr uintptr_t kFarthestDown = 64 * kPage;
constexpr uintptr_t kAddressLimit = uintptr_t{1} << 47;

uintptr_t PageOf(uintptr_t address) { return address & ~(kPage - 1); }

// Lengthens [low, *high) page by page until it contains `page`; stops at the first page that cannot be read.
bool StretchUp(uintptr_t* high, uintptr_t page) {
  for (; *high <= page; *high += kPage) {
    if (!os::IsReadable(*high)) return false;
  }
  return true;
}

bool StretchDown(uintptr_t* low, uintptr_t page) {
  for (; *low > page; *low -= kPage) {
    if (!os::IsReadable(*low - kPage)) return false;
  }
  return true;
}

}  // namespace

bool StackMemory::StretchDownTo(uintptr_t address) {
  const uintptr_t page = PageOf(address);
  return page < own_.low && own_.low - page <= kFarthestDown && StretchDown(&own_.low, page);
}

void StackMemory::SwitchTo(uintptr_t address) {
  const uintptr_t page = PageOf(address);
  if (StretchDownTo(address)) return;
  if (page >= own_.high && own_.high != 0 && page - own_.high <= kFarthestDown &&
      StretchUp(&own_.high, page)) {
    return;
  }
  Range next{page, page + kPage};
  unsigned place = 0;
  for (; place < kOthers - 1; ++place) {
    if (address - others_[place].low < others_[place].high - others_[place].low) break;
  }
  if (address - others_[place].low < others_[place].high - others_[place].low) next = others_[place];
  for (; place > 0; --place) others_[place] = others_[place - 1];
  others_[0] = own_;
  own_ = next;
  ++home_;
}

bool StackMemory::IsReadableNow(uintptr_t address) {
  const uintptr_t page = PageOf(address);
  if (page == asked_page_) return true;
  if (address >= kAddressLimit || !os::IsReadable(address)) return false;
  asked_page_ = page;
  return true;
}

bool StackMemory::Ask(uintptr_t address) {
  if (address % sizeof(uintptr_t) != 0 || address >= kAddressLimit) return false;
  const uintptr_t page = PageOf(address);
  if (page >= own_.high && page - own_.high < kFarthestUp && StretchUp(&own_.high, page)) return true;
  if (page == asked_page_) return true;
  if (!os::IsReadable(address)) return false;
  asked_page_ = page;
  return true;
}

}  // namespace mallow::record
