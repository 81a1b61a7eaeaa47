#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/syscall.h"

namespace mallow::os {

constinit uint32_t g_vforks = 0;

namespace {

// A thread, as ThreadIdentity names it, and where its stack ends, which is not where those of others do.
constinit struct { uintptr_t thread, end; } g_other_stack = {0, 0};

}  // namespace

int ThreadId() { return static_cast<int>(SystemCall(SYS_gettid)); }
int ProcessId() { return static_cast<int>(SystemCall(SYS_getpid)); }
int ParentProcessId() { return static_cast<int>(SystemCall(SYS_getppid)); }
uint32_t UserId() { return static_cast<uint32_t>(SystemCall(SYS_geteuid)); }

bool HasThread(int thread_id) { return SystemCall(SYS_tgkill, ProcessId(), thread_id, 0) == 0; }

// The folder has a link for itself, one from above, and one from each thread. No descriptor is needed for that.
uint64_t CountThreads() {
  struct stat status;
  if (SystemCall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>("/proc/self/task"),
                 reinterpret_cast<long>(&status), 0) != 0 ||
      status.st_nlink < 2) {
    return 0;
  }
  return status.st_nlink - 2;
}

unsigned Processor() {
  const int processor = sched_getcpu();
  return processor < 0 ? 0 : static_cast<unsigned>(processor);
}

// There lies what the thread has of its own.
uintptr_t StackEnd() {
  return ThreadIdentity() == g_other_stack.thread ? g_other_stack.end : ThreadIdentity();
}

// Some bytes that the kernel has put there.
void NoteFirstThread() {
  if (ThreadId() == ProcessId()) SetStackEnd(getauxval(AT_RANDOM));
}

void SetStackEnd(uintptr_t end) { g_other_stack = {ThreadIdentity(), end}; }

MALLOW_ALIGNS_STACK void Nap() {
  constexpr long kNanoseconds = 50'000;
  const timespec moment = {0, kNanoseconds};
  SystemCall(SYS_nanosleep, reinterpret_cast<long>(&moment), 0);
}

bool ThreadExitHook::Create(void (*at_exit)(void* value)) {
  if (key_plus_one_ != 0) return true;
  pthread_key_t key;
  if (pthread_key_create(&key, at_exit) != 0) return false;
  key_plus_one_ = key + 1;
  return true;
}

bool ThreadExitHook::Arm(void* value) {
  if (key_plus_one_ == 0) return false;
  const int saved_errno = errno;
  const bool armed = pthread_setspecific(key_plus_one_ - 1, value) == 0;
  errno = saved_errno;
  return armed;
}

}  // namespace mallow::os
