// Brings a clock of its own, as libraries do that fake the time: it allocates, takes a lock, and jumps an hour forth or back
// at every look. Whoever looks at it from within malloc waits for ever, or for a lock that it holds itself.
// Makes 3,000 allocations in main and two more at each of its 100 looks at the clock. Ends with status 5.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int looks;

__attribute__((noinline)) static void allocate(size_t bytes) {
  char *block = malloc(bytes);
  if (!block) abort();
  memset(block, 1, bytes < 5000 ? bytes : 5000);
  free(block);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  pthread_mutex_lock(&lock);
  allocate(24);
  allocate(100000);
  long result = syscall(SYS_clock_gettime, clock, now);
  now->tv_sec += looks++ % 2 ? 3600 : -3600;
  pthread_mutex_unlock(&lock);
  return (int)result;
}

int main(void) {
  struct timespec now;
  for (int i = 0; i < 1000; i++) {
    if (i % 10 == 0) clock_gettime(i % 20 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &now);
    pthread_mutex_lock(&lock);
    allocate(40);
    allocate(3000);
    allocate(4 << 20);
    pthread_mutex_unlock(&lock);
  }
  printf("%d looks\n", looks);
  return 5;
}
