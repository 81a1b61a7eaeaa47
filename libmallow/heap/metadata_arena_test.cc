#include "heap/metadata_arena.h"

#include <gtest/gtest.h>

#include "base/bits.h"
#include "os/memory.h"

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

// A release looks at two places there.
TEST(MetadataArena, MuchLiesInLongRegionsThatHugePagesFit) {
  constexpr size_t kMiB = 1024 * 1024;
  MetadataArena arena;
  for (int i = 0; i < 2; i++) ASSERT_NE(arena.Allocate(kMiB, 64), nullptr);
  EXPECT_LT(arena.regions()->bytes, 4 * kMiB);
  ASSERT_NE(arena.Allocate(kMiB, 64), nullptr);
  EXPECT_EQ(arena.regions()->bytes, 4 * kMiB);
}

TEST(MetadataArena, WhatIsSparseBringsNoHugePages) {
  constexpr size_t kMiB = 1024 * 1024;
  MetadataArena arena;
  for (int i = 0; i < 3; i++) ASSERT_NE(arena.Allocate(kMiB, 64, MetadataArena::Use::kSparse), nullptr);
  ASSERT_NE(arena.Allocate(kMiB, 64), nullptr);
  EXPECT_LT(arena.regions()->bytes, 4 * kMiB);
}

TEST(MetadataArena, WhatIsSparseTouchesNoHugePage) {
  constexpr size_t kMiB = 1024 * 1024;
  constexpr size_t kBytes = 300'000;
  MetadataArena arena;
  for (int i = 0; i < 3; i++) ASSERT_NE(arena.Allocate(kMiB, 64), nullptr);
  for (int i = 0; i < 20; i++) {
    char* const sparse = static_cast<char*>(arena.Allocate(kBytes, 512, MetadataArena::Use::kSparse));
    ASSERT_NE(sparse, nullptr);
    sparse[kBytes / 2] = 1;
    const uintptr_t page = RoundUp(reinterpret_cast<uintptr_t>(sparse), os::PageSize());
    EXPECT_LE(os::ResidentBytes(reinterpret_cast<void*>(page), kBytes - os::PageSize()), 2 * os::PageSize());
  }
}

TEST(MetadataArena, TakesWhatIsNeededWhereMoreIsRefused) {
  static constexpr size_t kMost = 64 * 1024;
  static const os::MemoryFunctions kNarrow = {
      [](void* hint, size_t bytes) -> void* {
        return bytes > kMost ? nullptr : os::SystemMemoryFunctions().map(hint, bytes);
      },
      os::SystemMemoryFunctions().unmap, os::SystemMemoryFunctions().release};
  MetadataArena arena;
  os::ReplaceMemoryFunctions(&kNarrow);
  void* const some = arena.Allocate(10'000, 64);
  void* const too_much = arena.Allocate(2 * kMost, 64);
  os::ReplaceMemoryFunctions(nullptr);
  EXPECT_NE(some, nullptr);
  EXPECT_EQ(too_much, nullptr);
  EXPECT_EQ(arena.bytes(), 10'000u);
}

}  // namespace
}  // namespace mallow::heap
