#include "base/spinlock.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "base/syscall.h"

namespace mallow {
namespace {

constexpr int kSpins = 100;
constexpr int kForkAttempts = 2 * kSpins;

// The futex is the low half of the word; on a little-endian machine it starts where the word starts.
long FutexAddress(std::atomic<uintptr_t>* word) { return reinterpret_cast<long>(word); }

// Ranks held by this thread, as a bit set of rank / 10. Only with checks enabled.
MALLOW_THREAD_LOCAL uint32_t held_ranks = 0;

// The thread that said so, as ThreadIdentity names it.
constinit std::atomic<uintptr_t> interrupted_thread{0};

// A handler of SIGABRT that allocates comes here again, and would for ever: the lock is never given back.
[[noreturn]] MALLOW_COLD void DieOfHandler() {
  if (interrupted_thread.exchange(ThreadIdentity()) == ThreadIdentity()) DieUnheard();
  Die("malloc was called by a signal handler that interrupted malloc in the same thread");
}

}  // namespace

void Spinlock::LockSlow() {
  const uintptr_t self = ThreadIdentity();
  if (InUseByThisThread()) DieOfHandler();
  if (HeldByThisThread()) {
    passes_ = true;
    return;
  }
  for (int spin = 0; spin < kSpins; ++spin) {
    uintptr_t free = 0;
    if (holder_.load(std::memory_order_relaxed) == 0 &&
        holder_.compare_exchange_weak(free, self, std::memory_order_acquire)) {
      return;
    }
    SpinPause();
  }
  // Who has slept takes the lock with the sleepers bit set: others may still sleep, and a wake too many is
  // cheap.
  for (;;) {
    uintptr_t seen = holder_.load(std::memory_order_relaxed);
    if (seen == 0) {
      if (holder_.compare_exchange_weak(seen, self | kSleepers, std::memory_order_acquire)) return;
      continue;
    }
    if ((seen & kSleepers) != 0 ||
        holder_.compare_exchange_weak(seen, seen | kSleepers, std::memory_order_relaxed)) {
      SystemCall(SYS_futex, FutexAddress(&holder_), FUTEX_WAIT_PRIVATE,
                 static_cast<long>(static_cast<uint32_t>(seen | kSleepers)));
    }
  }
}

void Spinlock::Wake() { SystemCall(SYS_futex, FutexAddress(&holder_), FUTEX_WAKE_PRIVATE, 1); }

bool Spinlock::ForkLock() {
  if (HeldByThisThread()) {
    ++fork_skips_;
    return true;
  }
  for (int attempt = 0; attempt < kForkAttempts; ++attempt) {
    uintptr_t free = 0;
    if (holder_.compare_exchange_strong(free, ThreadIdentity(), std::memory_order_acquire)) {
      taken_by_fork_ = true;
      return true;
    }
    if (attempt < kSpins) {
      SpinPause();
    } else {
      SystemCall(SYS_sched_yield);
    }
  }
  return false;
}

void Spinlock::ForkUnlock(bool child) {
  if (fork_skips_ != 0) {
    --fork_skips_;
    return;
  }
  taken_by_fork_ = false;
  if (holder_.exchange(0, std::memory_order_release) & kSleepers && !child) Wake();
}

void Spinlock::EnterRank() {
  const uint32_t bit = 1u << (static_cast<uint32_t>(rank_) / 10);
  MALLOW_CHECK(held_ranks < bit);
  held_ranks |= bit;
}
HandlerRanks::HandlerRanks() : interrupted_(held_ranks) { held_ranks = 0; }
HandlerRanks::~HandlerRanks() { held_ranks = interrupted_; }

void Spinlock::LeaveRank() { held_ranks &= ~(1u << (static_cast<uint32_t>(rank_) / 10)); }

}  // namespace mallow
