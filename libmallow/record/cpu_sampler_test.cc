#include "record/cpu_sampler.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "os/memory.h"
#include "record/process.h"
#include "record/recorder.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

std::atomic<bool> mapping{false}, go_on{false}, interruptible{false};

// Called with the lock of the threads held.
void* MapWhenTold(void* hint, size_t bytes) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  interruptible = sigismember(&blocked, SIGUSR1) == 0;
  mapping = true;
  while (!go_on) sched_yield();
  return os::SystemMemoryFunctions().map(hint, bytes);
}

void Block(int signal) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, signal);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
}

// The rest of a first record that a handler has interrupted and forked.
int StatusOfChildThatBegins() {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    g_cpu_sampler.BeginThread();
    // Not by _exit, where ThreadSanitizer would report that threads of the parent were not joined in the child.
    syscall(SYS_exit_group, 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(CpuSampler, AForkedChildWaitsForNoThreadOfItsParent) {
  TestFolder folder;
  ASSERT_TRUE(g_recording = g_process.Start(folder.path(), 0));
  SampleCpu(1);
  Block(SIGURG);  // this is not about samples
  const os::MemoryFunctions slow = {MapWhenTold, os::SystemMemoryFunctions().unmap,
                                    os::SystemMemoryFunctions().release};
  os::ReplaceMemoryFunctions(&slow);
  std::thread holder([] { g_cpu_sampler.BeginThread(); });
  while (!mapping) sched_yield();
  int status = -1;
  std::thread([&status] { status = StatusOfChildThatBegins(); }).join();
  go_on = true;
  holder.join();
  os::ReplaceMemoryFunctions(nullptr);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(interruptible)
      << "a handler that forks would leave the lock to a thread that is not in the child";
}

}  // namespace
}  // namespace mallow::record
