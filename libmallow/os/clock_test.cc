#include "os/clock.h"

#include <gtest/gtest.h>
#include <time.h>

namespace mallow::os {
namespace {

uint64_t OfLibc(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

TEST(ClockTest, IsTheKernels) {
  const uint64_t before = OfLibc(CLOCK_MONOTONIC), coarse_before = OfLibc(CLOCK_MONOTONIC_COARSE);
  const uint64_t monotonic = MonotonicNanoseconds(), coarse = CoarseNanoseconds();
  const uint64_t after = OfLibc(CLOCK_MONOTONIC);
  EXPECT_LE(before, monotonic);
  EXPECT_LE(monotonic, after);
  EXPECT_LE(coarse_before, coarse);
  EXPECT_LE(coarse, after);
  constexpr uint64_t kHour = uint64_t{3600} * 1000000000u;
  EXPECT_LT(RealtimeNanoseconds() - OfLibc(CLOCK_REALTIME) + kHour, 2 * kHour);
  EXPECT_LT(CoarseRealtimeNanoseconds() - OfLibc(CLOCK_REALTIME) + kHour, 2 * kHour);
}

}  // namespace
}  // namespace mallow::os
