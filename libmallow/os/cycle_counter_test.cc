#include "os/cycle_counter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace mallow::os {
namespace {

TEST(CycleCounter, Rises) {
  if (!CycleCountersAgree()) GTEST_SKIP() << "nobody vouches for the counters of this machine";
  uint64_t last = ReadCycleCounter();
  for (int i = 0; i < 100'000; i++) {
    const uint64_t now = ReadCycleCounter();
    ASSERT_GT(now, last);
    last = now;
  }
}

// Two threads pass a reading to and fro: the one that has seen the other's reads a greater value.
TEST(CycleCounter, OrdersWhatThreadsDo) {
  if (!CycleCountersAgree()) GTEST_SKIP() << "nobody vouches for the counters of this machine";
  constexpr int kRounds = 20'000;
  std::atomic<uint64_t> passed{0};
  std::atomic<int> turn{0};
  std::atomic<int> wrong{0};
  const auto play = [&](int parity) {
    for (int round = parity; round < kRounds; round += 2) {
      while (turn.load(std::memory_order_acquire) != round) std::this_thread::yield();
      const uint64_t before = passed.load(std::memory_order_relaxed);
      const uint64_t now = ReadCycleCounter();
      if (now <= before) wrong++;
      passed.store(now, std::memory_order_relaxed);
      turn.store(round + 1, std::memory_order_release);
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(0, wrong);
}

}  // namespace
}  // namespace mallow::os
