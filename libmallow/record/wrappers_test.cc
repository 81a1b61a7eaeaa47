#include "record/wrappers.h"

#include <gtest/gtest.h>

namespace mallow::record {
namespace {

TEST(WrappersTest, TheFirstOnePerPlaceStays) {
  Wrappers wrappers;
  EXPECT_EQ(0u, wrappers.PlaceAt(0x400100));
  ASSERT_TRUE(wrappers.Add(0x400100, 5));
  EXPECT_FALSE(wrappers.Add(0x400100, 6));
  EXPECT_EQ(5u, wrappers.PlaceAt(0x400100));
  unsigned added = 1;
  for (FrameKey key = 0x500000; key < 0x600000; key += 16) {
    const bool fits = wrappers.Add(key, 7);
    added += fits;
    EXPECT_EQ(fits ? 7u : 0u, wrappers.PlaceAt(key));
  }
  EXPECT_EQ(64u, added);
  EXPECT_EQ(5u, wrappers.PlaceAt(0x400100));
  wrappers = {};
  EXPECT_EQ(0u, wrappers.PlaceAt(0x400100));
}

}  // namespace
}  // namespace mallow::record
