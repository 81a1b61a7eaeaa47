// How fast idle memory goes back to the system.
//
// Of the free pages that may hold memory, those that were never needed during the last interval (the low-water mark)
// are idle; half of them goes back per interval, so that a heap that shrinks for good halves its excess ten times a
// second, and one that breathes keeps what it needs. A small remainder always stays.
//
// Synchronisation: the page heap's lock.
#pragma once

#include "base/bits.h"
#include "heap/pages.h"

namespace mallow::heap {

class ReleasePace {
 public:
  constexpr ReleasePace() = default;

  // Free pages were taken: `resident` of all free pages may still hold memory.
  void OnAllocate(Pages resident) { low_water_ = Min(low_water_, resident); }

  // Pages were freed. True when enough were to look at the clock.
  bool OnFree(Pages pages) {
    freed_ += pages;
    return freed_ >= kPagesPerLook;
  }

  // Number of pages to release now; usually 0. Starts the next interval when one is over.
  Pages Due(uint64_t now_nanoseconds, Pages resident) {
    freed_ = 0;
    if (now_nanoseconds - last_ < kInterval) return 0;
    const Pages idle = Min(low_water_, resident);
    last_ = now_nanoseconds;
    low_water_ = resident;
    if (idle <= kKeep) return 0;
    return Min((idle - kKeep) / 2 + 1, Max(kMostPerInterval, resident / 8));
  }

  // A freed object of so many pages goes back at once: faulting it in again costs more than the call.
  static constexpr Pages kImmediate = 32 * 1024 * 1024 / kPageBytes;

 private:
  static constexpr Pages kPagesPerLook = 64;
  static constexpr uint64_t kInterval = 100 * 1000 * 1000;
  static constexpr Pages kKeep = 1024 * 1024 / kPageBytes;
  static constexpr Pages kMostPerInterval = 16 * 1024 * 1024 / kPageBytes;

  uint64_t last_ = 0;
  Pages low_water_ = 0;
  Pages freed_ = 0;
};

}  // namespace mallow::heap
