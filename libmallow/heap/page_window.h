// A window: an item for each page of a long range of addresses around the first memory of ours, in one array. So one look
// finds what a tree needs two steps for.
//
// It is reserved whole and touched where needed. Only what lies between our pages can be written: the rest reads as zero and
// is nothing that mlockall would fill or a strict limit of committed memory count. Under a tight limit of address space there is
// no window; then, and for pages outside of it, the item reads as 0.
//
// Thread safety: one writer at a time; anyone reads.
#pragma once

#include "base/config.h"
#include "heap/pages.h"

namespace mallow::heap {

template <typename Item, Pages kPageCount>
class PageWindow {
 public:
  static constexpr size_t kBytes = kPageCount * sizeof(Item);

  // 0 for pages that have none.
  MALLOW_ALWAYS_INLINE Item Of(const void* p) const {
    const Pages page = IndexOf(reinterpret_cast<uintptr_t>(p));
    if (MALLOW_UNLIKELY(page >= kPageCount)) return 0;
    const Item* const items = __atomic_load_n(&items_, __ATOMIC_RELAXED);
    return __atomic_load_n(&items[page], __ATOMIC_ACQUIRE);
  }

  // Whether it is made, and long enough, for the page of an address to have one.
  bool Reaches(const void* p) const { return IndexOf(reinterpret_cast<uintptr_t>(p)) < kPageCount; }

  // Whether an item of 0 there was set to that, or never set.
  MALLOW_ALWAYS_INLINE bool KnowsOf(const void* p) const {
    return MALLOW_LIKELY(Reaches(p)) && MALLOW_LIKELY(!__atomic_load_n(&lacks_, __ATOMIC_RELAXED));
  }

  // Makes items of the pages writable where it can; the first time it makes the window. A failure costs speed, nothing else.
  void Open(PageId page, Pages pages);
  // Where Open could not, nothing happens.
  void Set(PageId page, Item item) {
    const Pages index = IndexOf(page << kPageShift);
    if (index >= begin_ && index < end_) {
      __atomic_store_n(&items_[index], item, __ATOMIC_RELEASE);
    } else if (item != 0 && (items_ == nullptr || index < kPageCount)) {
      __atomic_store_n(&lacks_, true, __ATOMIC_RELAXED);
    }
  }

  // Bytes reserved, and how many of them hold memory: some system calls.
  size_t MetadataBytes() const { return __atomic_load_n(&items_, __ATOMIC_RELAXED) == nullptr ? 0 : kBytes; }
  size_t ResidentBytes() const;

 private:
  Pages IndexOf(uintptr_t address) const {
    return (address + __atomic_load_n(&offset_, __ATOMIC_ACQUIRE)) >> kPageShift;
  }
  void Make(PageId page, Pages pages);

  // Before Make has been there it starts where no user address is. `offset_`, from an address to how far behind the start of
  // the window it is, is written last.
  uintptr_t offset_ = uintptr_t{1} << 63;
  Item* items_ = nullptr;
  bool lacks_ = false;  // an item that could not be set
  // The part that can be written.
  Pages begin_ = 0, end_ = 0;
};

}  // namespace mallow::heap
