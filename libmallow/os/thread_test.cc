#include "os/thread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "os/clock.h"

namespace mallow::os {
namespace {

std::atomic<int> exits{0};

TEST(Thread, ExitHookRunsOncePerArmedThread) {
  static ThreadExitHook hook;
  ASSERT_TRUE(hook.Create([](void* value) { exits += *static_cast<int*>(value); }));
  EXPECT_TRUE(hook.Create(nullptr)) << "a second call does nothing";
  int amounts[] = {1, 10, 100};
  for (int& amount : amounts) std::thread([&amount] { EXPECT_TRUE(hook.Arm(&amount)); }).join();
  std::thread([] {}).join();
  EXPECT_EQ(exits, 111);
  ThreadExitHook never_created;
  EXPECT_FALSE(never_created.Arm(amounts));
}

TEST(Thread, Ids) {
  EXPECT_EQ(ProcessId(), getpid());
  EXPECT_EQ(UserId(), geteuid());
  EXPECT_EQ(ThreadId(), getpid());
  int other = 0;
  std::thread([&other] { other = ThreadId(); }).join();
  EXPECT_NE(other, ThreadId());
}

TEST(Clock, GoesForward) {
  const uint64_t start = MonotonicNanoseconds();
  const uint64_t coarse = CoarseNanoseconds();
  usleep(20000);
  EXPECT_GE(MonotonicNanoseconds() - start, 20000000u);
  // The processor that counts its ticks may be taken away for longer than that.
  for (int tries = 0; CoarseNanoseconds() == coarse && tries < 10'000; ++tries) usleep(1000);
  EXPECT_GT(CoarseNanoseconds(), coarse);
  constexpr uint64_t kYear2020 = 1577836800ull * 1000000000;
  EXPECT_GT(RealtimeNanoseconds(), kYear2020);
}

}  // namespace
}  // namespace mallow::os
