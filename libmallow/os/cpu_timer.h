// CPU time, in nanoseconds, and timers that send a signal when a thread has used some of it. Thread-safe and
// async-signal-safe; errno stays. The kernel looks at such timers at its clock tick only, 1 to 10 ms apart.
#pragma once

#include "base/config.h"

namespace mallow::os {

// Of the calling thread since it began (a system call, about 200 ns).
uint64_t ThreadCpuNanoseconds();
// The same of any thread of the process; 0 when it has ended.
uint64_t ThreadCpuNanoseconds(int thread_id);
// Of all threads of the process, finished ones included.
uint64_t ProcessCpuNanoseconds();

// One shot at a time. A fork child, and what the process executes, have none.
class CpuTimer {
 public:
  // The thread will get `signal` with `value`. False: too many timers or signals, or it has ended.
  bool Create(int thread_id, int signal, void* value);
  void ExpireAfter(uint64_t nanoseconds);
  // A signal that is on its way comes nonetheless.
  void Delete();

 private:
  int id_ = 0;
};

}  // namespace mallow::os
