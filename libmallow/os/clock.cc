#include "os/clock.h"

#include <time.h>

namespace mallow::os {
namespace {

// clock_gettime cannot fail for these clocks, so errno is safe.
uint64_t Read(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

uint64_t MonotonicNanoseconds() { return Read(CLOCK_MONOTONIC); }
uint64_t CoarseNanoseconds() { return Read(CLOCK_MONOTONIC_COARSE); }
uint64_t RealtimeNanoseconds() { return Read(CLOCK_REALTIME); }

}  // namespace mallow::os
