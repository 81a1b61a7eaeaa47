#include "heap/heap.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include "base/bits.h"
#include "heap/heap_checks.h"

namespace mallow::heap {
namespace {

void AllocateAndFreeAligned(size_t alignment, size_t bytes) {
  char* p = static_cast<char*>(AllocateAligned(alignment, bytes));
  ASSERT_NE(p, nullptr);
  ASSERT_TRUE(IsAligned(p, alignment)) << bytes << " aligned to " << alignment;
  ASSERT_GE(UsableBytes(p), bytes);
  if (bytes > 0) p[0] = p[bytes - 1] = 1;
  Free(p);
}

TEST(Heap, EverySmallSizeInEveryAlignment) {
  for (size_t alignment = kMinAlignment; alignment <= 64 * 1024; alignment *= 2) {
    const size_t step = alignment > kPageBytes ? 251 : 1;
    for (size_t bytes = 0; bytes <= 64 * 1024; bytes += step) AllocateAndFreeAligned(alignment, bytes);
  }
}

TEST(Heap, LongerSizesAndAlignmentsSampled) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const size_t bytes = random() % (4 << 20);
    AllocateAndFreeAligned(size_t{16} << random() % 18, bytes);
  }
}

TEST(Heap, ZeroedIsZeroHoweverTheMemoryWasUsedBefore) {
  std::mt19937_64 random(2);
  std::vector<std::pair<char*, size_t>> live;
  for (int i = 0; i < 3000; ++i) {
    const size_t bytes = random() % (random() % 10 == 0 ? 1000000 : 3000);
    char* p = static_cast<char*>(AllocateZeroed(bytes));
    ASSERT_NE(p, nullptr);
    ASSERT_TRUE(AllBytesAre(p, bytes, 0)) << bytes;
    memset(p, 0xff, UsableBytes(p));
    live.emplace_back(p, bytes);
    if (live.size() > 40) {
      std::swap(live[random() % live.size()], live.back());
      Free(live.back().first);
      live.pop_back();
    }
    if (i % 500 == 0) Trim(0);
  }
  for (const auto& [p, bytes] : live) Free(p);
}

TEST(Heap, TooMuchIsNull) {
  errno = 4711;
  const size_t sizes[] = {
      size_t{PTRDIFF_MAX}, size_t{PTRDIFF_MAX} + 1, SIZE_MAX - 4096, SIZE_MAX - 1, SIZE_MAX, size_t{1} << 62};
  for (size_t bytes : sizes) {
    EXPECT_EQ(Allocate(bytes), nullptr);
    EXPECT_EQ(AllocateZeroed(bytes), nullptr);
    for (size_t alignment = 16; alignment != 0; alignment *= 2)
      EXPECT_EQ(AllocateAligned(alignment, bytes), nullptr);
    void* p = Allocate(100);
    EXPECT_FALSE(ResizeInPlace(p, bytes));
    Free(p);
    p = Allocate(1 << 20);
    EXPECT_FALSE(ResizeInPlace(p, bytes));
    Free(p);
  }
  EXPECT_EQ(AllocateAligned(size_t{1} << 62, 1), nullptr);
  EXPECT_EQ(AllocateAligned(size_t{1} << 63, 1), nullptr);
  EXPECT_EQ(errno, 4711);
  ExpectValidHeap();
}

TEST(Heap, NothingIsABlockToo) {
  void* a = Allocate(0);
  void* b = Allocate(0);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(UsableBytes(a), 16u);
  Free(a);
  Free(b);
  Free(nullptr);
}

TEST(Heap, OwnsItsBlocksOnly) {
  int local = 0;
  EXPECT_FALSE(Owns(&local));
  EXPECT_FALSE(Owns(nullptr));
  EXPECT_FALSE(Owns(reinterpret_cast<void*>(UINTPTR_MAX)));
  for (size_t bytes : {1, 5000, 300000, 5000000}) {
    char* p = static_cast<char*>(Allocate(bytes));
    EXPECT_TRUE(Owns(p));
    EXPECT_TRUE(Owns(p + bytes - 1));
    Free(p);
  }
}

TEST(Heap, ResizesInPlaceWhatCanBe) {
  char* p = static_cast<char*>(Allocate(1000));
  EXPECT_EQ(UsableBytes(p), 1024u);
  EXPECT_TRUE(ResizeInPlace(p, 1024));
  EXPECT_TRUE(ResizeInPlace(p, 600));
  EXPECT_FALSE(ResizeInPlace(p, 1025));
  EXPECT_FALSE(ResizeInPlace(p, 100)) << "a block that shrinks much moves to a smaller class";
  Free(p);

  Trim(0);
  p = static_cast<char*>(Allocate(1000000));
  memset(p, 5, 1000000);
  EXPECT_TRUE(ResizeInPlace(p, 400000));
  EXPECT_EQ(UsableBytes(p), RoundUp(400000, kPageBytes));
  EXPECT_TRUE(ResizeInPlace(p, 900000)) << "the pages behind it are free again";
  EXPECT_TRUE(AllBytesAre(p, 400000, 5));
  memset(p, 6, 900000);
  EXPECT_FALSE(ResizeInPlace(p, 100));
  Free(p);
  ExpectValidHeap();
}

TEST(Heap, FreedMemoryGoesBackToTheSystem) {
  constexpr size_t kTotal = 64 << 20;
  std::vector<void*> blocks;
  for (size_t bytes : {48, 700, 9000, 600000}) {
    blocks.clear();
    for (size_t sum = 0; sum < kTotal; sum += bytes) {
      blocks.push_back(Allocate(bytes));
      memset(blocks.back(), 1, bytes);
    }
    for (void* block : blocks) Free(block);
    Trim(0);
    ExpectValidHeap();
    ExpectEmptyHeap();
  }
  EXPECT_FALSE(Trim(0)) << "nothing is left to give";
}

TEST(Heap, TrimKeepsWhatItIsTold) {
  void* p = Allocate(20 << 20);
  memset(p, 1, 20 << 20);
  Free(p);
  Trim(8 << 20);
  const Statistics statistics = GetStatistics();
  EXPECT_LE(statistics.page_heap_bytes - statistics.returned_bytes, size_t{8} << 20);
  EXPECT_GE(statistics.page_heap_bytes - statistics.returned_bytes, size_t{7} << 20);
}

TEST(HeapDeathTest, NamesPointersThatAreNoBlocks) {
  int local = 0;
  EXPECT_DEATH(Free(&local),
               "mallow: free\\(\\): the pointer was not returned by malloc \\(0x[0-9a-f]+\\)\n");
  EXPECT_DEATH(Free(reinterpret_cast<void*>(UINTPTR_MAX - 15)), "was not returned by malloc");
  char* large = static_cast<char*>(Allocate(1 << 20));
  EXPECT_DEATH(Free(large + 16), "mallow: free\\(\\): the pointer is not the start of a block");
  EXPECT_DEATH(Free(large + kPageBytes), "not the start of a block");
  EXPECT_DEATH(
      {
        Free(large);
        Free(large);
      },
      "freed twice|freed before");
  EXPECT_DEATH(UsableBytes(&local), "malloc_usable_size\\(\\): the pointer is not the start of a block, or");
  Free(large);
}

}  // namespace
}  // namespace mallow::heap
