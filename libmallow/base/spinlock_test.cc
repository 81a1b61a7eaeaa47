#include "base/spinlock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace mallow {
namespace {

TEST(Spinlock, Excludes) {
  Spinlock lock(LockRank::kLeaf);
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  int64_t counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        SpinlockHolder holder(lock);
        EXPECT_TRUE(lock.HeldByThisThread());
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, int64_t{kThreads} * kRounds);
  EXPECT_FALSE(lock.HeldByThisThread());
}

TEST(Spinlock, SleepersAreWoken) {
  Spinlock lock(LockRank::kLeaf);
  std::atomic<int> done{0};
  lock.Lock();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      SpinlockHolder holder(lock);
      ++done;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(done, 0);
  std::thread([&] { EXPECT_FALSE(lock.TryLock()); }).join();
  lock.Unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 4);
}

TEST(Spinlock, WhatForkTookTheThreadPasses) {
  Spinlock lock(LockRank::kLeaf);
  ASSERT_TRUE(lock.ForkLock());
  for (int i = 0; i < 2; ++i) {
    SpinlockHolder holder(lock);
    EXPECT_TRUE(lock.HeldByThisThread());
  }
  std::thread([&] { EXPECT_FALSE(lock.TryLock()); }).join();
  EXPECT_TRUE(lock.TakenByFork());
  lock.ForkUnlock(false);
  EXPECT_FALSE(lock.HeldByThisThread());
}

TEST(SpinlockDeathTest, WhatForkTookTheThreadPassesOnceAtATime) {
  EXPECT_DEATH(
      {
        Spinlock lock(LockRank::kLeaf);
        lock.ForkLock();
        lock.Lock();
        const HandlerRanks handler;
        lock.Lock();
      },
      "interrupted malloc");
}

TEST(Spinlock, ForkSkipsWhatTheThreadHolds) {
  Spinlock held(LockRank::kCentralList);
  Spinlock other(LockRank::kPageHeap);
  held.Lock();
  EXPECT_TRUE(held.ForkLock());
  EXPECT_TRUE(other.ForkLock());
  std::thread([&] { EXPECT_FALSE(held.ForkLock()); }).join();
  EXPECT_FALSE(held.TakenByFork());
  EXPECT_TRUE(other.TakenByFork());
  const pid_t child = fork();
  if (child == 0) {
    held.ForkUnlock(true);
    other.ForkUnlock(true);
    const bool right = held.HeldByThisThread() && other.TryLock();
    _exit(right ? 0 : 1);
  }
  held.ForkUnlock(false);
  other.ForkUnlock(false);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(held.HeldByThisThread());
  EXPECT_FALSE(other.HeldByThisThread());
  held.Unlock();
}

TEST(SpinlockDeathTest, NamesAHandlerThatInterruptedItself) {
  Spinlock lock(LockRank::kLeaf);
  EXPECT_DEATH(
      {
        lock.Lock();
        lock.Lock();
      },
      "mallow: malloc was called by a signal handler that interrupted malloc in the same thread");
}

TEST(SpinlockDeathTest, IsDoneWithAHandlerThatAllocatesAsItDies) {
  static Spinlock lock(LockRank::kLeaf);
  const auto die = [] {
    signal(SIGABRT, [](int) { lock.Lock(); });
    lock.Lock();
    lock.Lock();
  };
  EXPECT_EXIT(die(), testing::KilledBySignal(SIGABRT),
              "^mallow: malloc was called by a signal handler[^\n]*\n$");
}

TEST(SpinlockDeathTest, RanksMustRise) {
  if (!kChecksEnabled) GTEST_SKIP() << "ranks are asserted in builds with MALLOW_CHECKS only";
  Spinlock low(LockRank::kCentralList);
  Spinlock high(LockRank::kPageHeap);
  EXPECT_DEATH(
      {
        high.Lock();
        low.Lock();
      },
      "internal check failed");
}

}  // namespace
}  // namespace mallow
