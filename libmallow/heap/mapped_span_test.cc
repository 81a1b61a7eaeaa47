#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/large.h"
#include "heap/page_heap.h"
#include "heap/page_map.h"
#include "os/clock.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

constexpr size_t kMiB = size_t{1} << 20, kGiB = size_t{1} << 30;

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

size_t InMemory(const char* block, size_t bytes) { return os::ResidentBytes(block, bytes); }

// KiB of the process, so far.
long MostInMemory() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// One byte of each mebibyte.
void TouchALittle(char* block, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kMiB) block[at] = 1;
}

Pages FreePagesInMemory() {
  const PageHeap::Totals totals = page_heap.GetTotals();
  return totals.free - totals.returned;
}

TEST(MappedSpan, OfWhichLittleWasTouchedServesTheNextBlock) {
  Trim(0);
  constexpr size_t kBytes = kGiB / 4;
  const PageHeap::Totals before = page_heap.GetTotals();
  char* const block = static_cast<char*>(Allocate(kBytes));
  ASSERT_NE(block, nullptr);
  TouchALittle(block, kBytes);
  Free(block);
  ExpectValidHeap();
  const PageHeap::Totals kept = page_heap.GetTotals();
  EXPECT_EQ(kept.free, before.free + kBytes / kPageBytes);
  EXPECT_EQ(kept.system, before.system + kBytes / kPageBytes);
  EXPECT_EQ(kept.free_spans, before.free_spans + 1);
  EXPECT_GT(kept.free - kept.returned, before.free - before.returned);
  EXPECT_LE(kept.free - kept.returned, before.free - before.returned + 4096);
  EXPECT_EQ(Allocate(kBytes), block);
  EXPECT_EQ(InMemory(block, kBytes), 256 * os::PageSize());
  EXPECT_EQ(UsableBytes(block), kBytes);
  Free(block);
  // What is behind a shorter one goes back.
  EXPECT_EQ(Allocate(kBytes / 2), block);
  EXPECT_EQ(InMemory(block, kBytes / 2), 128 * os::PageSize());
  EXPECT_EQ(page_heap.GetTotals().system, before.system + kBytes / 2 / kPageBytes);
  EXPECT_TRUE(Owns(block + kBytes / 2 - 1));
  EXPECT_FALSE(Owns(block + kBytes - 1));
  Free(block);
  // A longer one has the pages elsewhere.
  char* const longer = static_cast<char*>(Allocate(kBytes));
  ASSERT_NE(longer, nullptr);
  EXPECT_EQ(InMemory(longer, kBytes), 128 * os::PageSize());
  EXPECT_EQ(longer[127 * kMiB], 1);
  EXPECT_EQ(page_heap.GetTotals().system, before.system + kBytes / kPageBytes);
  ExpectValidHeap();
  Free(longer);
  Trim(0);
  EXPECT_EQ(SystemPagesNow(), before.system);
  ExpectValidHeap();
}

TEST(MappedSpan, OfOneThreadServesAnother) {
  Trim(0);
  const Pages system = SystemPagesNow();
  const auto play = [](size_t thread) {
    for (size_t i = 0; i < 60; ++i) {
      const size_t bytes = (64 + HashWord(thread * 100 + i) % 192) * kMiB;
      char* const block = static_cast<char*>(Allocate(bytes));
      ASSERT_NE(block, nullptr);
      const char mark = static_cast<char>(1 + thread);
      for (size_t at = 0; at < bytes; at += kMiB) block[at] = mark;
      for (size_t at = 0; at < bytes; at += kMiB) ASSERT_EQ(block[at], mark);
      Free(block);
    }
  };
  const long most = MostInMemory();
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 4; ++thread) threads.emplace_back(play, thread);
  for (std::thread& thread : threads) thread.join();
  // A mapping whose place another thread was given is not copied.
  EXPECT_LT(MostInMemory(), most + 48 * 1024);
  ExpectValidHeap();
  Trim(0);
  EXPECT_EQ(SystemPagesNow(), system);
}

TEST(MappedSpan, IsZeroWhereZeroIsAskedForAfterAnotherBlock) {
  Trim(0);
  char* const block = static_cast<char*>(Allocate(kGiB));
  ASSERT_NE(block, nullptr);
  TouchALittle(block, kGiB);
  Free(block);
  char* const zero = static_cast<char*>(AllocateZeroed(kGiB));
  EXPECT_EQ(zero, block);
  for (size_t at = 0; at < kGiB; at += kMiB) ASSERT_EQ(zero[at], 0) << at;
  Free(zero);
}

TEST(MappedSpan, GoesBackAtOnceWhereMuchWasTouched) {
  Trim(0);
  constexpr size_t kBytes = 64 * kMiB;
  const Pages system = SystemPagesNow(), in_memory = FreePagesInMemory();
  for (const size_t touched : {kBytes, 5 * kBytes / 8}) {
    void* const block = Allocate(kBytes);
    ASSERT_NE(block, nullptr);
    memset(block, 1, touched);
    Free(block);
    EXPECT_EQ(SystemPagesNow(), system) << touched;
    EXPECT_EQ(FreePagesInMemory(), in_memory);
  }
}

TEST(MappedSpan, GoesBackAtOnceWhereNothingIsGained) {
  Trim(0);
  const Pages system = SystemPagesNow();
  for (const int touched : {0, 1}) {
    char* const block = static_cast<char*>(Allocate(kGiB));
    ASSERT_NE(block, nullptr);
    if (touched) block[0] = 1;
    Free(block);
    EXPECT_EQ(SystemPagesNow(), system) << touched;
  }
  char* const block = static_cast<char*>(Allocate(3 * kGiB));
  ASSERT_NE(block, nullptr);
  TouchALittle(block, 3 * kGiB);
  Free(block);
  EXPECT_EQ(SystemPagesNow(), system) << "in so long a one much may lie where nobody looks";
}

TEST(MappedSpan, FilledFromItsBeginningOnIsKeptUpToTheLimit) {
  Trim(0);
  const Pages system = SystemPagesNow();
  for (const size_t touched : {5 * kMiB, 33 * kMiB}) {
    char* const block = static_cast<char*>(Allocate(kGiB));
    ASSERT_NE(block, nullptr);
    memset(block, 1, touched);
    Free(block);
    EXPECT_EQ(SystemPagesNow(), system + (touched == 5 * kMiB ? kGiB / kPageBytes : 0)) << touched;
    Trim(0);
  }
}

TEST(MappedSpan, IsKeptAsLongAsTogetherTheyHoldLittle) {
  Trim(0);
  constexpr size_t kBytes = 128 * kMiB;
  char* blocks[8];
  for (char*& block : blocks) {
    block = static_cast<char*>(Allocate(kBytes));
    ASSERT_NE(block, nullptr);
    memset(block, 1, 12 * kMiB);
  }
  const Pages system = SystemPagesNow();
  for (char* const block : blocks) Free(block);
  ExpectValidHeap();
  const Pages gone = system - SystemPagesNow();
  EXPECT_EQ(gone % (kBytes / kPageBytes), 0u);
  EXPECT_GE(gone, 4 * kBytes / kPageBytes);
  EXPECT_LT(gone, 8 * kBytes / kPageBytes);
  EXPECT_LE(FreePagesInMemory(), 32 * kMiB / kPageBytes);
  Trim(0);
  EXPECT_EQ(SystemPagesNow(), system - 8 * kBytes / kPageBytes);
}

TEST(MappedSpan, GoesBackWhenItLayIdle) {
  Trim(0);
  const Pages system = SystemPagesNow();
  char* const block = static_cast<char*>(Allocate(kGiB));
  ASSERT_NE(block, nullptr);
  TouchALittle(block, kGiB);
  Free(block);
  EXPECT_EQ(SystemPagesNow(), system + kGiB / kPageBytes);
  const uint64_t now = os::CoarseNanoseconds() + 10 * kReleaseInterval;
  for (const uint64_t intervals : {0, 2}) page_heap.ReleaseDue(now + intervals * kReleaseInterval);
  EXPECT_EQ(SystemPagesNow(), system);
  ExpectValidHeap();
}

TEST(MappedSpan, GoesBackWhereTheSystemHasNoMore) {
  Trim(0);
  char* const block = static_cast<char*>(Allocate(kGiB));
  ASSERT_NE(block, nullptr);
  TouchALittle(block, kGiB);
  Free(block);
  static size_t left;
  left = 2 * kGiB;
  os::MemoryFunctions functions = os::SystemMemoryFunctions();
  functions.map = [](void* hint, size_t bytes) -> void* {
    if (bytes > left) return nullptr;
    left -= bytes;
    return os::SystemMemoryFunctions().map(hint, bytes);
  };
  functions.unmap = [](void* start, size_t bytes) {
    left += bytes;
    return os::SystemMemoryFunctions().unmap(start, bytes);
  };
  functions.move = nullptr;
  os::ReplaceMemoryFunctions(&functions);
  char* const longer = static_cast<char*>(Allocate(5 * kGiB / 2));
  os::ReplaceMemoryFunctions(nullptr);
  ASSERT_NE(longer, nullptr);
  EXPECT_TRUE(LargeSpanAt(longer)->mapped);
  longer[5 * kGiB / 2 - 1] = 1;
  Free(longer);
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
  Trim(0);
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
  Trim(0);
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
