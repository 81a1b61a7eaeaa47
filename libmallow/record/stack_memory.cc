#include "record/stack_memory.h"

#include "base/bits.h"
#include "os/readable.h"
#include "os/thread.h"

namespace mallow::record {

namespace {

constexpr uintptr_t kAddressLimit = uintptr_t{1} << 47;

}  // namespace

// Page by page, as far as they can be read; true if `address` is in the own range then.
MALLOW_NOINLINE bool StackMemory::StretchTo(uintptr_t address, uintptr_t farthest) {
  const uintptr_t page = PageOf(address);
  const uintptr_t end = high_ != 0 ? high_ : PageOf(os::StackEnd()) + kPage;
  uintptr_t low = high_ != 0 ? low_ : end;
  if (page >= low || low - page > farthest) return false;
  while (low > page && low != nothing_below_ && os::IsReadable(low - kPage)) low -= kPage;
  if (low != page) nothing_below_ = low;
  if (low != end) {
    low_ = low;
    high_ = end;
  }
  return low == page;
}

bool StackMemory::Ask(uintptr_t address) {
  if (address % sizeof(uintptr_t) != 0 || address >= kAddressLimit) return false;
  const uintptr_t page = PageOf(address);
  if (page == live_page_) return true;
  const unsigned known = Min(asked_count_, kMostAsked);
  for (unsigned i = 0; i < known; ++i) {
    if (asked_pages_[i] == page) return true;
  }
  if (!os::IsReadable(address)) return false;
  asked_pages_[asked_count_++ % kMostAsked] = page;
  return true;
}

}  // namespace mallow::record
