#include "heap/metadata_arena.h"

#include <gtest/gtest.h>

#include "base/bits.h"

namespace mallow::heap {
namespace {

TEST(MetadataArena, WhatAnAlignmentSkipsServesSmallRequests) {
  MetadataArena arena;
  char* const first = static_cast<char*>(arena.Allocate(100, 64));
  char* const page = static_cast<char*>(arena.Allocate(8192, 4096));
  ASSERT_TRUE(first != nullptr && page != nullptr);
  EXPECT_TRUE(IsAligned(page, 4096));
  char* const small = static_cast<char*>(arena.Allocate(128, 64));
  EXPECT_GE(small, first + 100);
  EXPECT_LE(small + 128, page);
  EXPECT_EQ(static_cast<char*>(arena.Allocate(8192, 64)), page + 8192) << "does not fit into the gap";
  EXPECT_EQ(arena.bytes(), 100u + 128 + 2 * 8192);
}

}  // namespace
}  // namespace mallow::heap
