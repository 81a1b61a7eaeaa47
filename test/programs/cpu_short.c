// 500 children, one after another, that use 1 ms each, a quarter of what lies between two ticks of most kernels' clock.
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept;

static long microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

__attribute__((noinline)) static void briefly(void) {
  volatile uint64_t sink = 0;
  const long end = microseconds() + 1000;
  while (microseconds() < end) {
    for (uint64_t i = 0; i < 20000; i++) sink += i;
  }
  (void)sink;
}

int main(void) {
  kept = malloc(10);
  for (int i = 0; i < 500; i++) {
    const pid_t child = fork();
    if (child == 0) {
      kept = malloc(10);
      briefly();
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  return 0;
}
