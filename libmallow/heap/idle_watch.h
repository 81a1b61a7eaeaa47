// How a thread that its cache serves for ever still comes by to give idle memory back.
//
// A hit tells nobody that time has passed, and may not: it must cost nothing. So a thread that goes a slow path while
// the page heap wants visits (ReleasePace::Wanted) closes its hit paths: from then on each of its calls
// is slow, a few nanoseconds dearer, and looks at the clock now and then. Once per interval it gives back
// what is idle in the page heap and in the caches. When nothing more is wanted it opens the hit paths again: at
// once in a busy program, whose slow paths come by themselves, and after some more rounds in a quiet one, for the
// sake of what lies in the caches.
//
// A thread that is on no slow path learns nothing of all that. So who fetched and freed much, or ends, and may never call
// again, closes the hit paths of the others too, and their watches begin (Wake). A busy thread hits again at once, unless
// much lies idle beside what lives. A quiet one stays for some rounds: to it some nanoseconds a call are nothing, and it
// may be the only one to see the heap come to rest.
//
// Synchronisation: belongs to one thread, as its cache. Others may Wake it: they and Stop exclude each other by the lock of
// the registry, where hit paths are to be as closed as the watch is on.
#pragma once

#include "base/bits.h"
#include "base/config.h"

namespace mallow::heap {

class IdleWatch {
 public:
  enum class Step { kGoOn, kCollect, kStop };

  // Another thread may ask.
  bool on() const { return CallsLeft() != 0; }

  void Start(uint64_t now_nanoseconds) {
    calls_per_look_ = 1;
    SetCallsLeft(1);
    rounds_ = least_rounds_ = 0;
    last_look_ = last_round_ = now_nanoseconds;
  }
  void Stop() { SetCallsLeft(0); }
  // By another thread: begins at the next call, or goes on for as long as if it began; in a thread that is to stay for a round
  // at least, however busy it is.
  void Wake(bool to_stay) {
    __atomic_store_n(to_stay ? &woken_to_stay_ : &woken_, true, __ATOMIC_RELAXED);
    if (on()) return;
    __atomic_store_n(&begins_, true, __ATOMIC_RELAXED);
    SetCallsLeft(1);
  }

  // One call of the thread, whether it is on or not. True: it is time for Look.
  MALLOW_ALWAYS_INLINE bool OnCall() {
    const uint32_t left = CallsLeft();
    if (MALLOW_LIKELY(left == 0)) return false;
    if (MALLOW_UNLIKELY(left == 1)) return true;
    SetCallsLeft(left - 1);
    return false;
  }

  // `wanted` is what the page heap says now.
  Step Look(uint64_t now_nanoseconds, uint64_t interval, bool wanted) {
    if (TakeSign(&begins_)) Start(now_nanoseconds);
    if (TakeSign(&woken_)) rounds_ = 0;
    if (TakeSign(&woken_to_stay_)) {
      rounds_ = 0;
      least_rounds_ = 1;
    }
    const bool busy = now_nanoseconds - last_look_ < kBusyNanoseconds;
    last_look_ = now_nanoseconds;
    calls_per_look_ = busy ? Min(calls_per_look_ * 2, kMostCallsPerLook) : 1;
    SetCallsLeft(calls_per_look_);
    if (!wanted &&
        (rounds_ >= kRoundsForCaches || (calls_per_look_ == kMostCallsPerLook && rounds_ >= least_rounds_)))
      return Step::kStop;
    if (now_nanoseconds - last_round_ < interval) return Step::kGoOn;
    last_round_ = now_nanoseconds;
    rounds_ = wanted ? 0 : rounds_ + 1;
    return Step::kCollect;
  }

 private:
  // One tick of the coarse clock.
  static constexpr uint64_t kBusyNanoseconds = 4 * 1000 * 1000;
  static constexpr uint32_t kMostCallsPerLook = 64;
  // A collection takes a quarter of what lies idle in a bin.
  static constexpr uint32_t kRoundsForCaches = 12;

  uint32_t CallsLeft() const { return __atomic_load_n(&calls_left_, __ATOMIC_RELAXED); }
  void SetCallsLeft(uint32_t calls) { __atomic_store_n(&calls_left_, calls, __ATOMIC_RELAXED); }
  static bool TakeSign(bool* sign) {
    if (MALLOW_LIKELY(!__atomic_load_n(sign, __ATOMIC_RELAXED))) return false;
    __atomic_store_n(sign, false, __ATOMIC_RELAXED);
    return true;
  }

  uint32_t calls_left_;  // to the next look; 0: it is off
  uint32_t calls_per_look_;
  uint32_t rounds_;        // since the page heap wanted nothing more
  uint32_t least_rounds_;  // of these before a busy thread stops
  // Signs of other threads.
  bool begins_;
  bool woken_;
  bool woken_to_stay_;
  uint64_t last_look_;
  uint64_t last_round_;
};

}  // namespace mallow::heap
