#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/large.h"
#include "heap/page_heap.h"
#include "heap/page_map.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

constexpr size_t kGiB = size_t{1} << 30;

size_t MetadataInMemory() { return page_heap.MetadataResidentBytes(); }

// What is mapped beside it at this moment is not to be counted.
Pages SystemPagesNow() { return page_heap.GetTotals().system; }

TEST(MappedSpan, LongBlocksTakeNoMemoryUntilTheyAreTouched) {
  Free(Allocate(100));
  const size_t before = MetadataInMemory();
  const Pages system = SystemPagesNow();
  char* const block = static_cast<char*>(Allocate(16 * kGiB));
  ASSERT_NE(block, nullptr);
  EXPECT_LE(MetadataInMemory(), before + 64 * 1024);
  EXPECT_EQ(UsableBytes(block), 16 * kGiB);
  EXPECT_TRUE(Owns(block));
  EXPECT_TRUE(Owns(block + 16 * kGiB - 1));
  EXPECT_EQ(SystemPagesNow(), system + 16 * kGiB / kPageBytes);
  block[0] = block[8 * kGiB] = block[16 * kGiB - 1] = 1;
  ExpectValidHeap();
  Free(block);
  EXPECT_FALSE(Owns(block));
  EXPECT_EQ(SystemPagesNow(), system);
  ExpectValidHeap();
}

TEST(MappedSpan, IsZeroWhereZeroIsAskedFor) {
  char* const block = static_cast<char*>(AllocateZeroed(2 * kGiB));
  ASSERT_NE(block, nullptr);
  for (size_t at = 0; at < 2 * kGiB; at += kGiB / 4) EXPECT_EQ(block[at], 0);
  EXPECT_EQ(block[2 * kGiB - 1], 0);
  Free(block);
}

TEST(MappedSpan, IsAligned) {
  for (const size_t alignment : {size_t{4096}, size_t{1} << 21, size_t{1} << 25, kGiB}) {
    void* const block = AllocateAligned(alignment, kGiB + 5);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(IsAligned(block, alignment)) << alignment;
    Free(block);
  }
}

TEST(MappedSpan, ShortBlocksTakeNoMoreForTheirAlignment) {
  Free(Allocate(100));
  const size_t before = MetadataInMemory();
  const Pages system = SystemPagesNow();
  void* blocks[4];
  for (void*& block : blocks) {
    block = AllocateAligned(16 * kGiB, 3 * kPageBytes);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(IsAligned(block, 16 * kGiB));
    memset(block, 1, 3 * kPageBytes);
  }
  EXPECT_LE(MetadataInMemory(), before + 256 * 1024);
  EXPECT_EQ(SystemPagesNow(), system + 4 * 3);
  ExpectValidHeap();
  for (void* const block : blocks) Free(block);
  Trim(0);
  EXPECT_EQ(SystemPagesNow(), system);
  ExpectValidHeap();
}

TEST(MappedSpan, ShrinksInPlace) {
  const Pages system = SystemPagesNow();
  char* const block = static_cast<char*>(Allocate(4 * kGiB));
  ASSERT_NE(block, nullptr);
  block[0] = 7;
  ASSERT_TRUE(ResizeInPlace(block, kGiB + 1));
  EXPECT_EQ(UsableBytes(block), kGiB + kPageBytes);
  EXPECT_EQ(SystemPagesNow(), system + kGiB / kPageBytes + 1);
  EXPECT_FALSE(Owns(block + 4 * kGiB - 1));
  EXPECT_TRUE(Owns(block + kGiB));
  block[kGiB] = 8;
  // Short enough to be kept by the thread, and used again.
  ASSERT_TRUE(ResizeInPlace(block, 1024 * 1024));
  EXPECT_EQ(block[0], 7);
  Free(block);
  ExpectValidHeap();
  void* const again = Allocate(1024 * 1024);
  Free(again);
  Trim(0);
  EXPECT_EQ(SystemPagesNow(), system);
}

TEST(MappedSpan, GrowsWithWhatItHolds) {
  // From a span of the heap to a mapped one, and on.
  size_t bytes = kGiB / 8;
  char* block = static_cast<char*>(Allocate(bytes));
  ASSERT_NE(block, nullptr);
  memset(block, 5, 100'000);
  while (bytes < 8 * kGiB) {
    block[bytes - 1] = 9;
    const size_t before = bytes;
    bytes *= 2;
    char* const grown = static_cast<char*>(Relocate(block, bytes));
    ASSERT_NE(grown, nullptr);
    EXPECT_EQ(grown[0], 5);
    EXPECT_EQ(grown[99'999], 5);
    EXPECT_EQ(grown[before - 1], 9);
    EXPECT_GE(UsableBytes(grown), bytes);
    Free(block);
    block = grown;
    ExpectValidHeap();
  }
  Free(block);
  ExpectValidHeap();
}

TEST(MappedSpan, GrowsInPlaceAfterItHasGrown) {
  char* const block = static_cast<char*>(Allocate(kGiB));
  ASSERT_NE(block, nullptr);
  EXPECT_FALSE(ResizeInPlace(block, kGiB + kPageBytes));
  char* const grown = static_cast<char*>(Relocate(block, kGiB + kPageBytes));
  ASSERT_NE(grown, nullptr);
  Free(block);
  const Pages system = SystemPagesNow();
  Pages more = 0;
  for (size_t bytes = kGiB + 2 * kPageBytes; bytes < 3 * kGiB / 2; bytes += kGiB / 64) {
    ASSERT_TRUE(ResizeInPlace(grown, bytes));
    grown[bytes - 1] = 1;
    more = PagesFor(bytes) - PagesFor(kGiB + kPageBytes);
    EXPECT_EQ(SystemPagesNow(), system + more);
  }
  EXPECT_TRUE(Owns(grown + UsableBytes(grown) - 1));
  ASSERT_TRUE(ResizeInPlace(grown, kGiB / 2));
  EXPECT_FALSE(ResizeInPlace(grown, kGiB)) << "the room went with what was cut off";
  Free(grown);
  ExpectValidHeap();
}

TEST(MappedSpan, GrowsInPlaceAfterItWasCopied) {
  constexpr size_t kBytes = PageHeap::kLeastMapped * kPageBytes;
  char* const block = static_cast<char*>(Allocate(kBytes));
  ASSERT_NE(block, nullptr);
  block[5] = 5;
  // Two mappings of the system, which it does not move.
  ASSERT_EQ(madvise(block, kBytes / 2, MADV_SEQUENTIAL), 0);
  char* const copy = static_cast<char*>(Relocate(block, kBytes + 1));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy[5], 5);
  Free(block);
  EXPECT_TRUE(ResizeInPlace(copy, 3 * kBytes / 2));
  Free(copy);
  ExpectValidHeap();
}

TEST(MappedSpan, StaysWhereTheSystemTakesNothingBack) {
  const Pages system = SystemPagesNow();
  void* const block = Allocate(kGiB);
  ASSERT_NE(block, nullptr);
  os::MemoryFunctions functions = os::SystemMemoryFunctions();
  functions.unmap = [](void*, size_t) { return false; };
  os::ReplaceMemoryFunctions(&functions);
  ASSERT_TRUE(ResizeInPlace(block, kGiB / 2));
  ExpectValidHeap();
  EXPECT_EQ(SystemPagesNow(), system + kGiB / kPageBytes);
  Free(block);
  os::ReplaceMemoryFunctions(nullptr);
  ExpectValidHeap();
  EXPECT_EQ(SystemPagesNow(), system + kGiB / kPageBytes);
  // It serves as free memory.
  void* const next = Allocate(kGiB / 2);
  EXPECT_EQ(SystemPagesNow(), system + kGiB / kPageBytes);
  Free(next);
}

// Last: what stays would serve the others.
TEST(MappedSpan, IsNoneWherePagesAreToStay) {
  SetReleasePolicy({.interval = 0, .at_once = SIZE_MAX});
  void* const block = Allocate(2 * kGiB);
  ASSERT_NE(block, nullptr);
  const Pages system = SystemPagesNow();
  Free(block);
  EXPECT_EQ(SystemPagesNow(), system);
  EXPECT_EQ(Allocate(2 * kGiB), block);
  Free(block);
  SetReleasePolicy({});
  ExpectValidHeap();
}

}  // namespace
}  // namespace mallow::heap
