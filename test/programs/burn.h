// CPU time by the second, for programs whose shares are known.
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t cpu_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Uses so much CPU time of the thread, nearly all of it here and not in the clock.
static inline void burn(uint64_t milliseconds) {
  volatile uint64_t sink = 0;
  const uint64_t end = cpu_milliseconds() + milliseconds;
  while (cpu_milliseconds() < end) {
    for (uint64_t i = 0; i < 200000; i++) sink += i;
  }
}
