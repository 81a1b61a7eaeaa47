#include "record/sampling.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mallow::record {
namespace {

TEST(SamplingTest, FunctionsAreRight) {
  for (double x : {1e-12, 1e-6, 0.001, 0.1, 0.2499, 0.25, 0.2501, 0.7, 1.0, 3.0, 17.0, 39.9, 41.0, 1e9}) {
    EXPECT_NEAR(OneMinusExp(x), -std::expm1(-x), 1e-13 * -std::expm1(-x)) << x;
  }
  for (double u : {1e-17, 1e-9, 0.001, 0.3, 0.5, 0.70710678, 0.7072, 0.9, 0.999999999, 1.0}) {
    EXPECT_NEAR(MinusLog(u), -std::log(u), 1e-14 + 1e-13 * -std::log(u)) << u;
  }
}

// Blocks of each size are taken with the probability that their weights assume, whatever lies between them.
TEST(SamplingTest, TakesWithItsProbability) {
  constexpr double kMean = 4096;
  Sampler sampler;
  sampler.SetMean(static_cast<uint64_t>(kMean));
  constexpr size_t kSizes[] = {0, 16, 100, 1000, 4096, 50000};
  constexpr int kRounds = 300'000;
  int taken[6] = {};
  Sampler::ForgetInChild();
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 6; ++i) taken[i] += sampler.Takes(kSizes[i]);
  }
  for (int i = 0; i < 6; ++i) {
    const double p = 1 - std::exp(-static_cast<double>(kSizes[i] + Sampler::kExtraBytes) / kMean);
    const double deviation = std::sqrt(kRounds * p * (1 - p)) + 1e-9;
    EXPECT_LT(std::fabs(taken[i] - kRounds * p), 5 * deviation + 1) << kSizes[i];
  }
}

}  // namespace
}  // namespace mallow::record
