// For a thread that is held up until another one has done what it can without it.
#pragma once

#include <semaphore.h>
#include <time.h>

// Waits so long at most: the other thread may be waiting for a lock that this one holds, and is done after this.
static inline void wait_briefly(sem_t* done, long milliseconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += milliseconds * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  sem_timedwait(done, &until);
}
