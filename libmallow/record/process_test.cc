#include "record/process.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "record/test_folder.h"

namespace mallow::record {
namespace {

std::atomic<int> interrupted, interrupted_with_lock;

void OnSignal(int) {
  interrupted++;
  if (g_process.HoldsLock()) interrupted_with_lock++;
}

// What a thread asks for when the recording has to grow.
void Grow(int round) {
  g_process.Current();
  for (uint32_t i = 0; i < 100; i++)
    g_process.NewCounterPage(0, CounterKind::kReallocs, i * kCountersPerPage);
  const std::string name = "round " + std::to_string(round);
  g_process.regions().Enter(kNoRegion, name.c_str());
  g_process.units().Add(name.c_str(), UnitSource::kProgram);
}

// A handler that forks waits for every lock: one that interrupted such a section would wait for a thread that waits,
// with a lock of its own, for that section to end.
TEST(Process, NoHandlerInterruptsAGrowth) {
  TestFolder folder;
  ASSERT_TRUE(g_process.Start(folder.path(), 0));
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(0, sigaction(SIGUSR1, &action, nullptr));
  std::atomic<bool> stop{false};
  const pthread_t target = pthread_self();
  std::thread signals([&] {
    while (!stop) pthread_kill(target, SIGUSR1);
  });
  for (int round = 0; round < 200 || interrupted < 200; round++) Grow(round);
  stop = true;
  signals.join();
  EXPECT_EQ(0, interrupted_with_lock);
}

}  // namespace
}  // namespace mallow::record
