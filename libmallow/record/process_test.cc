#include "record/process.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "os/memory.h"
#include "record/counting.h"
#include "record/recorder.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

// The first test, so that no thread has left its recorder to another one.
TEST(Process, ANewThreadHasInMemoryOnlyWhatItTouches) {
  TestFolder folder;
  ASSERT_TRUE(g_process.Start(folder.path(), 0));
  g_module_generation++;
  std::thread([] {
    ThreadRecorder* const recorder = g_process.Current();
    ASSERT_TRUE(IsRecorder(recorder));
    recorder->CallerAt(reinterpret_cast<uintptr_t>(&getpid) + 1);
    const size_t resident = os::ResidentBytes(recorder, sizeof(*recorder));
    EXPECT_GT(resident, 0u);
    EXPECT_LT(resident, sizeof(recorder->caller_slots) / 2);
  }).join();
}

// Each thread has a number of its own, in all sessions of the process together.
TEST(Process, NumbersOfThreadsBeginAgainWhereHalfOfThemAreGone) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes up to a minute for so many threads";
  TestFolder folder;
  ASSERT_TRUE(g_process.Start(folder.path(), 1));
  // On one processor threads come and go three times as fast.
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof(all), &all);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof(one), &one);
  uint32_t last = 0;
  while (last < kNoOwner / 2 - 1) std::thread([&] { last = g_process.Current()->owner; }).join();
  sched_setaffinity(0, sizeof(all), &all);
  ASSERT_TRUE(g_process.Start(folder.path(), 1));
  EXPECT_EQ(g_process.first_owner(), 1u);
}

std::atomic<int> interrupted, interrupted_with_lock;

void OnSignal(int) {
  interrupted++;
  if (g_process.HoldsLock()) interrupted_with_lock++;
}

// What a thread asks for when the recording has to grow.
void Grow(int round) {
  g_process.Current();
  for (uint32_t i = 0; i < 100; i++)
    g_process.NewCounterPage(g_process.session(), g_process.first_shard(), CounterKind::kReallocs,
                             i * kCountersPerPage);
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

// libc frees null when a thread ends, after the last moment at which anybody can see it end.
TEST(Process, ThreadsKeepNoRecorderForANullThatLibcFrees) {
  TestFolder folder;
  ASSERT_TRUE(g_recording = g_process.Start(folder.path(), 0));
  std::thread([] {
    Registers libc = {};
    libc.pc = reinterpret_cast<uintptr_t>(&getpid) + 1;
    Release(nullptr, libc);
    EXPECT_EQ(t_recorder, nullptr);
    EXPECT_EQ(g_process.header().lost_calls, 0u);
  }).join();
}

// What a handler does that comes at the first moment at which one can interrupt a thread that gets its recorder: that
// takes memory, with every signal blocked.
void (*on_first_moment)();
thread_local bool has_come;
thread_local volatile bool is_handled;

void* MapAndSignal(void* hint, size_t bytes) {
  if (!has_come) pthread_kill(pthread_self(), SIGUSR2);
  has_come = true;
  return os::SystemMemoryFunctions().map(hint, bytes);
}

const os::MemoryFunctions kSignalling = {MapAndSignal, os::SystemMemoryFunctions().unmap,
                                         os::SystemMemoryFunctions().release};

// Calls `after` in a thread that was interrupted so, and returns how many threads were given a recorder: those that were
// given one of a thread of before map nothing.
uint32_t WithInterruptedThread(void (*handler)(), void (*after)(ThreadRecorder*)) {
  on_first_moment = handler;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    on_first_moment();
    is_handled = true;
  };
  sigaction(SIGUSR2, &action, nullptr);
  os::ReplaceMemoryFunctions(&kSignalling);
  std::atomic<bool> found{false};
  std::vector<std::thread> threads;
  for (std::atomic<bool> next{true}; !found; sched_yield()) {
    if (!next.exchange(false)) continue;
    threads.emplace_back([&] {
      ThreadRecorder* const recorder = g_process.Current();
      while (has_come && !is_handled) usleep(10);  // ThreadSanitizer defers it
      if (has_come) after(recorder);
      (has_come ? found : next) = true;
      while (!found) sched_yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  os::ReplaceMemoryFunctions(nullptr);
  return static_cast<uint32_t>(threads.size());
}

TEST(Process, AHandlerThatAllocatesLeavesAThreadOneRecorder) {
  TestFolder folder;
  ASSERT_TRUE(g_process.Start(folder.path(), 0));
  const uint32_t before = g_process.header().most_threads;
  static ThreadRecorder* in_handler;
  const uint32_t threads = WithInterruptedThread([] { in_handler = g_process.Current(); },
                                                 [](ThreadRecorder* own) { EXPECT_EQ(in_handler, own); });
  EXPECT_EQ(before + threads, g_process.header().most_threads);
}

TEST(Process, AHandlerThatForksLeavesTheChildNothingOfItsParent) {
  static volatile pid_t child;
  static int status;
  for (void (*in_child)() : {+[] {}, +[] { g_process.Current(); }}) {
    TestFolder folder;
    ASSERT_TRUE(g_recording = g_process.Start(folder.path(), 0));
    static void (*do_in_child)();
    do_in_child = in_child;
    status = -1;
    WithInterruptedThread(
        [] {
          child = fork();
          if (child != 0) return;
          alarm(60);
          do_in_child();
        },
        [](ThreadRecorder* own) {
          // The thread may have had its recorder by then: the child notices at its next record.
          const bool well = g_process.Current() == own && g_process.IsOfNow(*own) && own->shard->threads == 1;
          // Not by _exit, where ThreadSanitizer would report that threads of the parent were not joined in the child.
          if (child == 0) syscall(SYS_exit_group, well ? 0 : 1);
          EXPECT_TRUE(well);
          waitpid(child, &status, 0);
        });
    EXPECT_EQ(0, status);
  }
}

TEST(Process, AThreadThatFoundNoRoomIsRecordedInALaterSession) {
  TestFolder narrow, wide;
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {4 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  ASSERT_TRUE(g_process.Start(narrow.path(), 0));
  setrlimit(RLIMIT_FSIZE, &before);
  constexpr int kThreads = 200;
  std::atomic<int> refused{0}, recorded{0};
  pthread_barrier_t all;
  pthread_barrier_init(&all, nullptr, kThreads + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&] {
      if (g_process.Current() == nullptr) refused++;
      pthread_barrier_wait(&all);
      pthread_barrier_wait(&all);  // another session has begun
      if (g_process.Current() != nullptr) recorded++;
    });
  }
  pthread_barrier_wait(&all);
  EXPECT_LT(0, refused);
  EXPECT_NE(0u, g_process.header().incomplete & kShardsFull);
  EXPECT_TRUE(g_process.Start(wide.path(), 1));
  pthread_barrier_wait(&all);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kThreads, recorded);
  pthread_barrier_destroy(&all);
}

TEST(Process, NoRecordBeginsInASessionThatHasEnded) {
  TestFolder folder;
  ASSERT_TRUE(g_recording = g_process.Start(folder.path(), 0));
  ThreadRecorder* const own = g_process.Current();
  const uint64_t lost = g_process.header().lost_calls;
  g_process.Stop();
  EXPECT_FALSE(g_process.IsOfNow(*own));
  EXPECT_EQ(nullptr, g_process.Current());
  NoteFailed(Function::kMalloc, 1, {});
  EXPECT_EQ(lost, g_process.header().lost_calls);
  ASSERT_TRUE(g_process.Start(folder.path(), 1));
  EXPECT_EQ(own, g_process.Current());
}

// As where a signal handler ends it that has interrupted strdup.
TEST(Process, AThreadThatEndsWithinACallLeavesNothingOfItToTheNext) {
  TestFolder folder;
  ASSERT_TRUE(g_recording = g_process.Start(folder.path(), 0));
  ThreadRecorder* left = nullptr;
  std::thread([&] {
    BeginWrapped(Function::kStrdup, 0, {});
    left = g_process.Current();
    left->state.busy = true;
  }).join();
  std::thread([&] {
    ThreadRecorder* const own = g_process.Current();
    EXPECT_EQ(left, own);
    EXPECT_FALSE(own->state.busy);
    EXPECT_EQ(Function::kNone, own->state.wrapped);
  }).join();
}

// In a fork child whose first record is another thread's.
TEST(Process, NoSessionEndsWithinARecordOfTheThreadThatForked) {
  TestFolder folder;
  ASSERT_TRUE(g_recording = g_process.Start(folder.path(), 0));
  ASSERT_TRUE(IsRecorder(g_process.Current()));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::thread([] { g_process.Current(); }).join();
    ThreadRecorder* const own = g_process.Current();
    __atomic_store_n(&own->state.busy, true, __ATOMIC_SEQ_CST);
    std::atomic<bool> stopped{false};
    std::thread stops([&] {
      g_process.Stop();
      stopped = true;
    });
    usleep(20'000);
    const bool waited = !stopped;
    __atomic_store_n(&own->state.busy, false, __ATOMIC_SEQ_CST);
    stops.join();
    syscall(SYS_exit_group, waited ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(0, status);
}

void* ForkAndEnd(void* shard) {
  *static_cast<Shard**>(shard) = g_process.Current()->shard;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    return nullptr;
  }
  int status;
  waitpid(child, &status, 0);
  EXPECT_EQ(kShardOwned, (*static_cast<Shard**>(shard))->state) << "its thread goes on in the parent";
  return nullptr;
}

TEST(Process, AForkedThreadThatEndsGivesBackNothingOfItsParent) {
  TestFolder folder;
  ASSERT_TRUE(g_recording = g_process.Start(folder.path(), 0));
  Shard* shard = nullptr;
  pthread_t thread;
  ASSERT_EQ(0, pthread_create(&thread, nullptr, ForkAndEnd, &shard));
  pthread_join(thread, nullptr);
  EXPECT_EQ(kShardFree, shard->state);
}

}  // namespace
}  // namespace mallow::record
