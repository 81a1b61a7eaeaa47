// The large objects that a thread freed a moment ago and keeps for its next malloc of the same length, so that a loop
// that allocates and frees one takes no lock.
//
// What is to go back to the system at once (ReleasePolicy) is not kept: together the kept ones are shorter than that.
//
// Kept spans are kKept in state: no live block, and free of one of them is found out. What was not used between two
// collections goes back to the page heap.
//
// Synchronisation: belongs to one thread, as its cache; others may read how much it holds.
#pragma once

#include "heap/page_heap.h"

namespace mallow::heap {

class LargeCache {
 public:
  // One that holds nothing and keeps nothing.
  static constexpr LargeCache Full() {
    LargeCache full = {};
    full.total_ = kMostPages;
    return full;
  }

  // A span of exactly so many pages, kLarge again, or null. Its page states are those of its last birth, so they do
  // not tell what the program has written since.
  MALLOW_ALWAYS_INLINE Span* Take(Pages pages) {
    for (size_t i = 0; i < kSlots; ++i) {
      if (pages_[i] == pages) return TakeSlot(i);
    }
    return nullptr;
  }

  // Whether nothing can be kept: a question before those about the span.
  MALLOW_ALWAYS_INLINE bool full() const { return total_ == kMostPages; }

  // False: it is too long, or there is no room.
  MALLOW_ALWAYS_INLINE bool Keep(Span* span) {
    const Pages total = total_ + span->pages;
    if (total > kMostPages) return false;
    for (size_t i = 0; i < kSlots; ++i) {
      if (pages_[i] != 0) continue;
      StorePages(i, span->pages, total);
      spans_[i] = span;
      idle_[i] = false;
      span->SetState(SpanState::kKept);
      return true;
    }
    return false;
  }

  // One collection.
  void Collect() { GiveBack(true); }
  // Gives back everything.
  void Flush() { GiveBack(false); }
  // From now on it keeps so many pages at most, and gives everything back when it has more. The memory of a new one is zero.
  void SetMost(Pages most);

  size_t count() const;
  Pages pages() const {
    const Pages total = __atomic_load_n(&total_, __ATOMIC_RELAXED);
    return total - Min<Pages>(total, __atomic_load_n(&closed_, __ATOMIC_RELAXED));
  }
  // For tests and checks only.
  bool IsValid() const;

 private:
  static constexpr size_t kSlots = 4;
  // Each and together.
  static constexpr Pages kMostPages = 8 * 1024 * 1024 / kPageBytes;

  void StorePages(size_t slot, Pages pages, Pages total) {
    __atomic_store_n(&pages_[slot], pages, __ATOMIC_RELAXED);
    __atomic_store_n(&total_, total, __ATOMIC_RELAXED);
  }
  MALLOW_ALWAYS_INLINE Span* TakeSlot(size_t slot) {
    StorePages(slot, 0, total_ - pages_[slot]);
    Span* span = spans_[slot];
    span->SetState(SpanState::kLarge);
    return span;
  }
  void GiveBack(bool idle_only);

  Pages pages_[kSlots] = {};  // 0: nothing in this slot
  Span* spans_[kSlots] = {};
  bool idle_[kSlots] = {};  // since the last collection
  uint32_t closed_ = 0;     // pages of kMostPages that are not to be kept, see SetMost
  Pages total_ = 0;         // with those
};

}  // namespace mallow::heap
