#include "base/check.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace mallow {
namespace {

TEST(CheckDeathTest, SaysOneSentenceAndAborts) {
  EXPECT_EXIT(Die("the sentence"), testing::KilledBySignal(SIGABRT), "^mallow: the sentence\n$");
  EXPECT_EXIT(DieAt("free(): bad", reinterpret_cast<void*>(0x1230)), testing::KilledBySignal(SIGABRT),
              "^mallow: free\\(\\): bad \\(0x1230\\)\n$");
  EXPECT_EXIT(MALLOW_CHECK(1 + 1 == 3), testing::KilledBySignal(SIGABRT),
              "^mallow: internal check failed: 1 \\+ 1 == 3 at .*check_test.cc:[0-9]+\n$");
}

TEST(Check, PassesSilently) {
  int evaluated = 0;
  MALLOW_CHECK(++evaluated == 1);
  MALLOW_DCHECK(true);
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace mallow
