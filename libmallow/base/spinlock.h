// A lock for short critical sections, usable before constructors, in any thread, and around fork.
//
// Synchronisation: Lock() acquires, Unlock() releases. The lock word is the identity of the holder (see
// ThreadIdentity), so a holder is known from the very instruction that took the lock: a fork from a signal
// handler that interrupted a critical section can tell its own locks from those of others. Bit 0 says that
// somebody sleeps.
//
// Rank: a thread takes locks in strictly rising rank, which excludes deadlock; asserted with MALLOW_CHECKS.
// Two locks of the same rank are held together only by ForkLock (see there).
#pragma once

#include <atomic>

#include "base/config.h"

namespace mallow {

enum class LockRank : uint8_t {
  kControl = 0,      // record/: starting and stopping it
  kRecorder = 10,    // record/: its rare global steps
  kCpuSampler = 15,  // record/: its threads
  kStackTable = 20,  // record/: growth of the tables
  kMappedFile = 30,
  kThreadRegistry = 40,  // heap/: list of thread caches
  kTransferCache = 50,
  kCentralList = 60,
  kPageHeap = 70,  // spans, free pages, all metadata
  kLeaf = 80,      // nothing is taken under it
};

class Spinlock {
 public:
  constexpr explicit Spinlock(LockRank rank) : rank_(kChecksEnabled ? rank : LockRank{}) {}
  Spinlock(const Spinlock&) = delete;
  Spinlock& operator=(const Spinlock&) = delete;

  MALLOW_ALWAYS_INLINE void Lock() {
    uintptr_t free = 0;
    if (MALLOW_UNLIKELY(
            !holder_.compare_exchange_strong(free, ThreadIdentity(), std::memory_order_acquire))) {
      LockSlow();
    }
    if constexpr (kChecksEnabled) EnterRank();
  }

  bool TryLock() {
    uintptr_t free = 0;
    if (!holder_.compare_exchange_strong(free, ThreadIdentity(), std::memory_order_acquire)) return false;
    if constexpr (kChecksEnabled) EnterRank();
    return true;
  }

  MALLOW_ALWAYS_INLINE void Unlock() {
    if constexpr (kChecksEnabled) LeaveRank();
    if (MALLOW_UNLIKELY(passes_)) {
      passes_ = false;  // it stays the fork's
    } else if (MALLOW_UNLIKELY(holder_.exchange(0, std::memory_order_release) & kSleepers)) {
      Wake();
    }
  }

  bool HeldByThisThread() const {
    return (holder_.load(std::memory_order_relaxed) & ~kSleepers) == ThreadIdentity();
  }
  // Whether a critical section of this thread has it, so that it may be taken in none that began later.
  bool InUseByThisThread() const { return HeldByThisThread() && (!taken_by_fork_ || passes_); }

  // For fork only: takes the lock regardless of rank, or leaves it alone when this thread is the holder already: it
  // forks from a signal handler that interrupted its critical section. False, and nothing is done, when another
  // thread holds it for long. Until ForkUnlock critical sections of this thread pass a lock that was taken so: nothing
  // that it guards is half done, and handlers of others that run around a fork may allocate.
  bool ForkLock();
  // For a fork child whose copy of the lock may be held by a thread that is not there.
  void ResetInChild() { holder_.store(0, std::memory_order_relaxed); }
  // Between the two: ForkLock took it, so what it guards may be changed.
  bool TakenByFork() const { return fork_skips_ == 0; }
  // Ends ForkLock in the parent (`child` false) or in the child, where no sleepers survive.
  void ForkUnlock(bool child);

 private:
  static constexpr uintptr_t kSleepers = 1;

  MALLOW_NOINLINE void LockSlow();
  MALLOW_NOINLINE void Wake();
  void EnterRank();
  void LeaveRank();

  std::atomic<uintptr_t> holder_{0};
  LockRank rank_;  // without checks 0, so that what has locks may lie in .bss, untouched where unused
  // Of the holder alone:
  bool taken_by_fork_ = false;
  bool passes_ = false;  // a critical section of the thread that forks
  // Forks by the holder from signal handlers, which left the lock alone: such a fork may also interrupt another
  // one between its handlers.
  int fork_skips_ = 0;
};

// In a signal handler: what the interrupted code holds does not bear on the rank of what the handler takes. The handler
// sees to it that it needs no lock which that code holds.
class HandlerRanks {
 public:
  HandlerRanks();
  ~HandlerRanks();
  HandlerRanks(const HandlerRanks&) = delete;
  HandlerRanks& operator=(const HandlerRanks&) = delete;

 private:
  uint32_t interrupted_;
};

class SpinlockHolder {
 public:
  explicit SpinlockHolder(Spinlock& lock) : lock_(lock) { lock_.Lock(); }
  ~SpinlockHolder() { lock_.Unlock(); }
  SpinlockHolder(const SpinlockHolder&) = delete;
  SpinlockHolder& operator=(const SpinlockHolder&) = delete;

 private:
  Spinlock& lock_;
};

}  // namespace mallow
