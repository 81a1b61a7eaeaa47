#include "base/bits.h"

#include <gtest/gtest.h>

namespace mallow {
namespace {

TEST(Bits, Logarithms) {
  EXPECT_EQ(Log2Ceiling(1), 0);
  for (int bit = 1; bit < 63; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    EXPECT_EQ(Log2Floor(power), bit);
    EXPECT_EQ(Log2Ceiling(power), bit);
    EXPECT_EQ(Log2Floor(power + 1), bit);
    EXPECT_EQ(Log2Ceiling(power + 1), bit + 1);
  }
}

TEST(Bits, Rounding) {
  for (size_t alignment : {1, 16, 4096}) {
    for (size_t value = 0; value < 10000; value += 7) {
      const size_t up = RoundUp(value, alignment);
      const size_t down = RoundDown(value, alignment);
      EXPECT_TRUE(IsAligned(up, alignment) && IsAligned(down, alignment));
      EXPECT_TRUE(down <= value && value <= up && up - down <= alignment);
    }
  }
  EXPECT_TRUE(IsPowerOfTwo(1) && IsPowerOfTwo(size_t{1} << 63));
  EXPECT_FALSE(IsPowerOfTwo(0) || IsPowerOfTwo(6));
  EXPECT_EQ(Clamp(5, 1, 3), 3);
  EXPECT_EQ(Clamp(0, 1, 3), 1);
}

}  // namespace
}  // namespace mallow
