#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/test_processors.h"

namespace mallow::heap {
namespace {

constexpr unsigned kHangSeconds = 30;

void UseHeap(uint64_t random, int steps) {
  void* live[100] = {};
  for (int step = 0; step < steps; ++step) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    void*& slot = live[random % 100];
    Free(slot);
    const size_t bytes = (random >> 20) % ((random >> 40 & 31) != 0 ? 500 : 600000);
    slot = Allocate(bytes);
    if (slot == nullptr) _exit(3);
    if (bytes > 0) *static_cast<char*>(slot) = 1;
  }
  for (void* p : live) Free(p);
}

bool StructuresAreValid() {
  for (SizeClass c = 1; c < kClassCount; ++c) {
    bool valid = shared_lists[c].central.IsValid(c);
    ForTransferCaches(c, [&](TransferCache& cache) { valid &= cache.IsValid(c); });
    if (!valid) return false;
  }
  return page_heap.IsValid() && thread_words.cache->IsValid();
}

void RegisterHandlers() {
  static bool registered = false;
  if (registered) return;
  registered = true;
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
}

int WaitFor(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Fork, WhileOtherThreadsAllocate) {
  RegisterHandlers();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&stop, seed] {
      for (uint64_t round = 0; !stop; ++round) UseHeap(seed * 1000 + round + 1, 200);
    });
  }
  Free(Allocate(1));
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kHangSeconds);
      UseHeap(static_cast<uint64_t>(i) + 1, 300);
      _exit(StructuresAreValid() && thread_registry.threads() == 1 ? 0 : 1);
    }
    ASSERT_EQ(WaitFor(child), 0) << "fork " << i;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  ExpectValidHeap();
}

std::atomic<int> forks{0};
std::atomic<int> bad_children{0};

// glibc promises fork in a handler that interrupted malloc. The child only ends: it must get that far.
void ForkInHandler(int) {
  const pid_t child = fork();
  // Not by _exit, where ThreadSanitizer would report that threads of the parent were not joined in the child.
  if (child == 0) syscall(SYS_exit_group, 0);
  ++forks;
  if (WaitFor(child) != 0) ++bad_children;
}

TEST(Fork, FromASignalHandlerThatInterruptedTheHeap) {
  RegisterHandlers();
  struct sigaction action = {};
  action.sa_handler = ForkInHandler;
  sigaction(SIGUSR1, &action, nullptr);
  alarm(4 * kHangSeconds);
  std::atomic<bool> stop{false};
  // The others allocate too, so that some of them wait for what the interrupted thread holds.
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    threads.emplace_back([&stop, seed] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      for (uint64_t round = 0; !stop; ++round) UseHeap(seed * 1000 + round + 1, 200);
    });
  }
  const pthread_t target = pthread_self();
  std::thread sender([&] {
    while (forks < 150) {
      pthread_kill(target, SIGUSR1);
      usleep(300);
    }
    stop = true;
  });
  for (uint64_t round = 1; !stop; ++round) UseHeap(round, 200);
  sender.join();
  for (std::thread& thread : threads) thread.join();
  alarm(0);
  signal(SIGUSR1, SIG_IGN);
  EXPECT_EQ(bad_children, 0);
  ExpectValidHeap();
}

// The thread that holds a lock as if its malloc were interrupted, and the one that waits for that lock with others in
// hand, both fork.
TEST(Fork, WhileAnotherForkWaitsForThisThread) {
  Spinlock& held = shared_lists[7].central.lock();
  std::atomic<bool> forked{false};
  alarm(kHangSeconds);
  held.Lock();
  std::thread other([&] {
    BeforeFork();
    forked = true;
    AfterForkInParent();
  });
  usleep(20000);
  EXPECT_FALSE(forked);
  BeforeFork();
  AfterForkInParent();
  EXPECT_TRUE(held.HeldByThisThread());
  held.Unlock();
  other.join();
  EXPECT_TRUE(forked);
  alarm(0);
}

// On one processor, by a thread that the holder of a lock cannot interrupt.
TEST(Fork, LetsAHolderOfLowerPriorityGoOn) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  RunOn(ProcessorsAllowed().at(0));
  ASSERT_FALSE(HasFatalFailure());
  Spinlock& held = shared_lists[7].central.lock();
  std::atomic<bool> urgent{false};
  std::atomic<bool> forked{false};
  double seconds = 0;
  alarm(kHangSeconds);
  held.Lock();
  std::thread other([&] {
    const sched_param priority = {.sched_priority = 1};
    urgent = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
    BeforeFork();
    forked = true;
    AfterForkInParent();
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    seconds = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  });
  usleep(20000);
  EXPECT_FALSE(forked);
  held.Unlock();
  other.join();
  EXPECT_TRUE(forked);
  // Linux leaves a twentieth of each second to others even then: it would have waited for that, running.
  EXPECT_LT(seconds, 0.5);
  alarm(0);
  EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  if (!urgent) GTEST_SKIP() << "this user may not have threads of a higher priority";
}

TEST(Fork, ChildrenOfChildren) {
  RegisterHandlers();
  UseHeap(1, 100);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kHangSeconds);
    for (int depth = 0; depth < 20; ++depth) {
      UseHeap(static_cast<uint64_t>(depth) + 7, 200);
      std::thread([] { UseHeap(5, 200); }).join();
      const pid_t grandchild = fork();
      if (grandchild != 0) {
        _exit(WaitFor(grandchild) == 0 && StructuresAreValid() ? 0 : 1);
      }
    }
    _exit(0);
  }
  EXPECT_EQ(WaitFor(child), 0);
}

}  // namespace
}  // namespace mallow::heap
