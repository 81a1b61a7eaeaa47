// CPU time by the second, for programs whose shares are known.
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t cpu_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Uses CPU time until the thread has had so much, nearly all of it here and not in the clock.
static inline void burn_until(uint64_t end) {
  volatile uint64_t sink = 0;
  while (cpu_milliseconds() < end) {
    for (uint64_t i = 0; i < 200000; i++) sink += i;
  }
  (void)sink;
}

static inline void burn(uint64_t milliseconds) { burn_until(cpu_milliseconds() + milliseconds); }
