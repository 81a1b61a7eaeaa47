// How fast idle memory goes back to the system.
//
// Of the free pages that may hold memory, those that were never needed during the last interval (the low-water mark)
// are idle; half of them goes back per interval, so that a heap that shrinks for good halves its excess ten times a
// second, and one that breathes keeps what it needs. A small remainder always stays.
//
// A heap whose free pages do not fit what is wanted takes fresh ones meanwhile, and would grow by all that it keeps. So
// beyond the remainder, and a share of the heap, as many idle pages go back as fresh ones are taken, some 20 MiB a second.
// What the heap keeps beyond a larger share goes back at any pace while pages are taken that just came from the system: a
// heap grows by each page only once, so this cannot go on for ever, as it could in one that breathes. But not
// many for one growth: a heap that grows by long blocks needs its free pages for the next ones.
//
// This is done by the threads that allocate, in passing. While much lies idle the page heap asks them to come by
// (Wanted), also those that their caches could serve for ever; see idle_watch.h. Where what lies idle is much beside what
// lives (WantedOfAll) these are all threads, because who freed it may never call again.
//
// Synchronisation: the page heap's lock.
#pragma once

#include "base/bits.h"
#include "heap/pages.h"
#include "heap/size_class.h"

namespace mallow::heap {

// For programs that choose nothing.
inline constexpr uint64_t kReleaseInterval = 100 * 1000 * 1000;
inline constexpr size_t kReleaseKeep = 1024 * 1024;
inline constexpr size_t kReleaseAtOnce = 32 * 1024 * 1024;

// What a program may choose: options.def and mallopt.
struct ReleasePolicy {
  // Nanoseconds between two looks at what is idle; 0: never, only malloc_trim and at_once give any back.
  uint64_t interval = kReleaseInterval;
  // Bytes of free pages that stay, however long they are idle.
  size_t keep = kReleaseKeep;
  // A freed block of at least so many bytes goes back at once, if it is longer than a small one: faulting it in again costs
  // more than the call.
  size_t at_once = kReleaseAtOnce;
};

class ReleasePace {
 public:
  constexpr ReleasePace() = default;

  void SetPolicy(const ReleasePolicy& policy) {
    __atomic_store_n(&policy_.interval, policy.interval, __ATOMIC_RELAXED);
    __atomic_store_n(&policy_.keep, policy.keep, __ATOMIC_RELAXED);
    __atomic_store_n(&policy_.at_once, policy.at_once, __ATOMIC_RELAXED);
  }
  ReleasePolicy policy() const { return policy_; }
  uint64_t interval() const { return __atomic_load_n(&policy_.interval, __ATOMIC_RELAXED); }

  // Free pages were taken, `reused` of which may hold memory; `resident` of those that stay free may.
  void OnAllocate(Pages reused, Pages resident) {
    reused_ += reused;
    low_water_ = Min(low_water_, resident);
  }

  // Fresh pages were taken, which hold no memory yet. True when enough were to look at the clock.
  bool OnFresh(Pages pages) {
    fresh_ += pages;
    return fresh_ >= kPagesPerExchange;
  }

  // So many pages came from the system.
  void OnGrowth(Pages pages) { grown_ = Min(pages, kMostAllowed); }

  // Number of pages to release for those; usually 0. Of the free ones `resident` may hold memory, of `system` in all.
  Pages InExchange(uint64_t now_nanoseconds, Pages resident, Pages system) {
    const Pages taken = fresh_;
    const Pages least = Max(keep(), system / kShareKept);
    fresh_ = 0;
    // What a process takes as it begins, it will use: nothing is earned before.
    if (last_exchange_ == 0) last_exchange_ = now_nanoseconds;
    if (policy_.interval == 0 || resident <= least) return 0;
    const Pages earned = (now_nanoseconds - last_exchange_) / kNanosecondsPerExchanged;
    allowed_ = Min(allowed_ + Min(earned, kMostAllowed), kMostAllowed);
    last_exchange_ += earned * kNanosecondsPerExchanged;
    const Pages excess = resident - Min(resident, Max(least, system / kShareTolerated));
    const Pages pages = Min(Min(taken, resident - least), Max(allowed_, Min(excess, grown_)));
    allowed_ -= Min(pages, allowed_);
    grown_ -= Min(pages, grown_);
    return pages;
  }

  // Pages were freed. True when enough were to look at the clock.
  bool OnFree(Pages pages) {
    freed_ += pages;
    return freed_ >= kPagesPerLook;
  }

  // Whether anything may be due. Needs no lock.
  bool IntervalIsOver(uint64_t now_nanoseconds) const {
    return interval() != 0 && now_nanoseconds - __atomic_load_n(&last_, __ATOMIC_RELAXED) >= interval();
  }

  // Number of pages to release now; usually 0. Starts the next interval when one is over.
  Pages Due(uint64_t now_nanoseconds, Pages resident) {
    freed_ = 0;
    if (!IntervalIsOver(now_nanoseconds)) return 0;
    const Pages idle = Min(low_water_, resident);
    __atomic_store_n(&last_, now_nanoseconds, __ATOMIC_RELAXED);
    low_water_ = resident;
    // More than all of it says no more: two intervals in which nothing was reused are enough to be Wanted.
    reused_ = Min(reused_, resident) / 2;
    if (idle <= keep()) return 0;
    return Min((idle - keep()) / 2 + 1, Max(kMostPerInterval, resident / 8));
  }

  // Whether so many pages would be much if they were idle. Needs no lock.
  bool IsMuch(Pages pages) const { return interval() != 0 && pages > 2 * keep(); }

  // True when much lies idle, as far as can be told within an interval: a heap that breathes takes again what it
  // frees.
  bool Wanted(Pages resident) const { return IsMuch(resident) && reused_ < resident / 2; }

  // True when so much of it does, beside the pages that are in use, that it is worth a slow call of every thread.
  bool WantedOfAll(Pages resident, Pages in_use) const {
    return Wanted(resident) && resident > in_use / kShareForAll;
  }

  // Whether an object of so many pages goes back when it is freed. Needs no lock.
  bool AtOnce(Pages pages) const { return pages > MostKept(); }
  // The most pages of which that is not so. No fewer than small objects have: their spans become free all the time.
  Pages MostKept() const {
    const size_t at_once = __atomic_load_n(&policy_.at_once, __ATOMIC_RELAXED);
    return (Max(at_once, kMaxSmallBytes + 1) - 1) / kPageBytes;
  }

 private:
  static constexpr Pages kPagesPerLook = 64;
  static constexpr Pages kPagesPerExchange = 16;
  static constexpr Pages kShareKept = 16;
  static constexpr Pages kShareTolerated = 8;
  static constexpr Pages kShareForAll = 4;
  // A page that goes and comes back costs some 4 microseconds: this is 1 % of a processor at most.
  static constexpr uint64_t kNanosecondsPerExchanged = 400 * 1000;
  static constexpr Pages kMostAllowed = 256;
  static constexpr Pages kMostPerInterval = 16 * 1024 * 1024 / kPageBytes;

  Pages keep() const { return __atomic_load_n(&policy_.keep, __ATOMIC_RELAXED) / kPageBytes; }

  ReleasePolicy policy_;
  uint64_t last_ = 0;
  Pages low_water_ = 0;
  Pages reused_ = 0;
  Pages fresh_ = 0;
  Pages grown_ = 0;
  Pages allowed_ = 0;  // to be exchanged now
  uint64_t last_exchange_ = 0;
  Pages freed_ = 0;
};

}  // namespace mallow::heap
