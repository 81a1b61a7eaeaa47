#include "os/cpu_timer.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/syscall.h"

namespace mallow::os {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

uint64_t Read(clockid_t clock) {
  timespec now = {};
  SystemCall(SYS_clock_gettime, clock, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

// As the kernel names the CPU time of any thread.
clockid_t ClockOf(int thread_id) {
  constexpr int kPerThread = 4, kScheduled = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(thread_id) << 3) | kPerThread | kScheduled;
}

}  // namespace

uint64_t ThreadCpuNanoseconds() { return Read(CLOCK_THREAD_CPUTIME_ID); }
uint64_t ThreadCpuNanoseconds(int thread_id) { return Read(ClockOf(thread_id)); }
uint64_t ProcessCpuNanoseconds() { return Read(CLOCK_PROCESS_CPUTIME_ID); }

bool CpuTimer::Create(int thread_id, int signal, void* value) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = value;
  event._sigev_un._tid = thread_id;
  return SystemCall(SYS_timer_create, ClockOf(thread_id), reinterpret_cast<long>(&event),
                    reinterpret_cast<long>(&id_)) == 0;
}

void CpuTimer::ExpireAfter(uint64_t nanoseconds) {
  itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>(nanoseconds / kSecond);
  when.it_value.tv_nsec = static_cast<long>(nanoseconds % kSecond);
  SystemCall(SYS_timer_settime, id_, 0, reinterpret_cast<long>(&when), 0);
}

void CpuTimer::Delete() { SystemCall(SYS_timer_delete, id_); }

}  // namespace mallow::os
