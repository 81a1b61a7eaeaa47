#include "os/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/syscall.h"

namespace mallow::os {

int ThreadId() { return static_cast<int>(SystemCall(SYS_gettid)); }
int ProcessId() { return static_cast<int>(SystemCall(SYS_getpid)); }
int ParentProcessId() { return static_cast<int>(SystemCall(SYS_getppid)); }

void Nap() {
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
