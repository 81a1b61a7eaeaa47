// Blocks that change their size, as realloc does it: contents stay, whatever way the heap takes.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <random>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/large.h"
#include "heap/size_class.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

struct Block {
  unsigned char* p;
  size_t bytes;
};

// What blocks are filled with, again and again: a length that no shift of pages is a multiple of.
const std::vector<unsigned char>& Pattern() {
  static const std::vector<unsigned char> pattern = [] {
    std::vector<unsigned char> bytes(65521);
    std::mt19937_64 random(3);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    return bytes;
  }();
  return pattern;
}

void Fill(const Block& block) {
  for (size_t i = 0; i < block.bytes; i += Pattern().size())
    memcpy(block.p + i, Pattern().data(), Min(Pattern().size(), block.bytes - i));
}

bool IsFilled(const Block& block, size_t bytes) {
  for (size_t i = 0; i < bytes; i += Pattern().size()) {
    if (memcmp(block.p + i, Pattern().data(), Min(Pattern().size(), bytes - i)) != 0) return false;
  }
  return true;
}

Block Make(size_t bytes) {
  const Block block = {static_cast<unsigned char*>(Allocate(bytes)), bytes};
  Fill(block);
  return block;
}

void Resize(Block& block, size_t bytes) {
  if (!ResizeInPlace(block.p, bytes)) {
    void* const to = Relocate(block.p, bytes);
    ASSERT_NE(to, nullptr);
    ASSERT_NE(to, block.p);
    Free(block.p);
    block.p = static_cast<unsigned char*>(to);
  }
  ASSERT_GE(UsableBytes(block.p), bytes);
  ASSERT_TRUE(IsFilled(block, Min(block.bytes, bytes))) << block.bytes << " to " << bytes;
  block.bytes = bytes;
  Fill(block);
}

// Each boundary between classes and kinds of blocks, and its neighbours.
std::vector<size_t> Boundaries() {
  std::vector<size_t> sizes;
  const auto add = [&sizes](size_t bytes) {
    for (const size_t size : {bytes - 1, bytes, bytes + 1}) sizes.push_back(size);
  };
  for (SizeClass c = 1; c < kClassCount; ++c) add(Info(c).bytes);
  for (const size_t bytes : {32u << 10, 264u << 10, 1u << 20, 4u << 20, 5u << 20}) add(bytes);
  return sizes;
}

TEST(Relocate, KeepsContentsFromEveryBoundaryToTheNext) {
  const std::vector<size_t> sizes = Boundaries();
  Block up = Make(1);
  for (const size_t bytes : sizes) Resize(up, bytes);
  for (size_t i = sizes.size(); i-- > 0;) Resize(up, sizes[i]);
  Free(up.p);
  ExpectValidHeap();
}

TEST(Relocate, KeepsContentsBetweenAnyTwoSizes) {
  std::mt19937_64 random(1);
  const std::vector<size_t> sizes = Boundaries();
  for (int i = 0; i < 800; ++i) {
    Block block = Make(sizes[random() % sizes.size()]);
    Resize(block, sizes[random() % sizes.size()]);
    Free(block.p);
  }
  ExpectValidHeap();
}

TEST(Relocate, ChainsGrowInPlaceWhereThereIsRoom) {
  Block block = Make(40000);
  Resize(block, 50000);
  int moves = 0;
  for (size_t bytes = 60000; bytes < 30u << 20; bytes = bytes * 3 / 2) {
    const void* const before = block.p;
    Resize(block, bytes);
    moves += block.p != before;
  }
  EXPECT_LE(moves, 6) << "each move brings room for at least one doubling";
  Free(block.p);
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
}

std::vector<Span*> HoldAllFree() {
  std::vector<Span*> held;
  for (Pages pages = Pages{1} << 20; pages > 0; pages /= 2) {
    while (Span* span = page_heap.AllocateLarge(pages, 1, PageHeap::Growth::kForbidden)) held.push_back(span);
  }
  return held;
}

TEST(Relocate, LongBlocksAreMovedWithoutACopy) {
  const size_t bytes = PageHeap::kLeastMapped * kPageBytes / 4;
  // A block is moved only where little is free, and where it lies in one mapping: in fresh pages alone.
  const std::vector<Span*> held = HoldAllFree();
  Block block = Make(bytes);
  Span* const span = LargeSpanAt(block.p);
  Span* const moved = page_heap.MoveLarge(span, 2 * bytes / kPageBytes);
  ASSERT_NE(moved, nullptr);
  EXPECT_TRUE(IsFilled({reinterpret_cast<unsigned char*>(moved->start()), bytes}, bytes));
  EXPECT_TRUE(span->moved_away);
  EXPECT_EQ(block.p[0], 0);
  const Pages returned = page_heap.GetTotals().returned;
  Free(block.p);
  EXPECT_GE(page_heap.GetTotals().returned, returned + bytes / kPageBytes) << "the old pages hold nothing";
  ExpectValidHeap();
  Free(moved->start());
  for (Span* held_span : held) page_heap.Free(held_span);
  Trim(0);
  ExpectEmptyHeap();
}

// A block, and beside it so much free that this is most of the heap.
class MuchIsFree : public testing::Test {
 protected:
  static constexpr size_t kBlockBytes = 4 << 20;

  void SetUp() override {
    ReleasePolicy policy;
    policy.interval = 0;
    SetReleasePolicy(policy);
    Trim(0);
    held_ = HoldAllFree();
    block_ = Make(kBlockBytes);
  }
  void TearDown() override {
    os::ReplaceMemoryFunctions(nullptr);
    Free(block_.p);
    for (Span* span : held_) page_heap.Free(span);
    SetReleasePolicy({});
    Trim(0);
    ExpectValidHeap();
    ExpectEmptyHeap();
  }
  void MakeFree(bool resident) {
    ReleasePolicy policy = GetReleasePolicy();
    policy.at_once = resident ? SIZE_MAX : 1;
    SetReleasePolicy(policy);
    // In pieces that are no mapped spans.
    std::vector<void*> pieces;
    for (Pages left = page_heap.system_pages() + (32 << 20) / kPageBytes, piece; left > 0; left -= piece) {
      piece = Min(left, PageHeap::kLeastMapped / 2);
      pieces.push_back(Allocate(piece * kPageBytes));
    }
    for (void* piece : pieces) Free(piece);
    totals_ = page_heap.GetTotals();
    ASSERT_GT(totals_.free, totals_.system / 2);
  }
  Span* Move() { return page_heap.MoveLarge(LargeSpanAt(block_.p), 2 * kBlockBytes / kPageBytes); }

  std::vector<Span*> held_;
  Block block_;
  PageHeap::Totals totals_;
};

TEST_F(MuchIsFree, LongBlocksAreMovedThere) {
  MakeFree(false);
  Span* const moved = Move();
  ASSERT_NE(moved, nullptr);
  EXPECT_TRUE(IsFilled({reinterpret_cast<unsigned char*>(moved->start()), kBlockBytes}, kBlockBytes));
  EXPECT_EQ(page_heap.GetTotals().system, totals_.system) << "the addresses become no more";
  EXPECT_EQ(page_heap.GetTotals().free, totals_.free - moved->pages);
  ExpectValidHeap();
  Free(moved->start());
}

TEST_F(MuchIsFree, WhatHoldsMemoryIsUsedFirst) {
  MakeFree(true);
  EXPECT_EQ(Move(), nullptr);
  EXPECT_EQ(page_heap.GetTotals().returned, totals_.returned);
}

TEST_F(MuchIsFree, WhatCannotMoveLeavesNoHole) {
  MakeFree(false);
  os::MemoryFunctions functions = os::SystemMemoryFunctions();
  functions.move = [](void*, size_t, void* to, size_t to_bytes, bool) {
    os::SystemMemoryFunctions().unmap(to, to_bytes);
    return false;
  };
  os::ReplaceMemoryFunctions(&functions);
  EXPECT_EQ(Move(), nullptr);
  EXPECT_TRUE(IsFilled(block_, kBlockBytes));
  const PageHeap::Totals totals = page_heap.GetTotals();
  EXPECT_EQ(totals.system, totals_.system);
  EXPECT_EQ(totals.free, totals_.free);
  EXPECT_EQ(totals.returned, totals_.returned);
  EXPECT_EQ(totals.free_spans, totals_.free_spans);
}

// The program may say of some of a block's pages what it likes.
TEST(Relocate, KeepsContentsOfBlocksInSeveralMappings) {
  for (const int advice : {MADV_DONTFORK, MADV_NOHUGEPAGE, MADV_SEQUENTIAL}) {
    Block block = Make(16 << 20);
    unsigned char* const inside = block.p + (6 << 20);
    madvise(inside, 1 << 20, advice);
    Resize(block, 100 << 20);
    Resize(block, 300 << 20);
    madvise(block.p, 300 << 20, MADV_DOFORK);
    Free(block.p);
    madvise(inside, 1 << 20, MADV_DOFORK);
  }
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
}

TEST(Relocate, ShrinksLargeBlocksBelowHalfIntoSmallOnes) {
  Block block = Make(300 << 10);
  Resize(block, 1000);
  EXPECT_EQ(LargeSpanAt(block.p), nullptr);
  Free(block.p);
}

TEST(Relocate, NeighboursThatGrowInTurnKeepTheirContents) {
  std::vector<Block> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(Make(20000));
  std::mt19937_64 random(2);
  for (int step = 0; step < 150; ++step) {
    Block& block = blocks[random() % blocks.size()];
    const bool again = block.bytes > 6 << 20;
    Resize(block, again ? 20000 : block.bytes * (5 + random() % 5) / 4);
    if (step % 50 == 0) ExpectValidHeap();
  }
  for (const Block& block : blocks) Free(block.p);
  Trim(0);
  ExpectEmptyHeap();
}

// A first generation leaves memory and addresses without it by turns; the second is to take the memory.
TEST(Relocate, BlocksThatGrowInTurnTakeMemoryThatIsFree) {
  ReleasePolicy policy;
  policy.interval = 0;
  SetReleasePolicy(policy);
  Trim(0);
  constexpr size_t kMost = 4 << 20;
  const auto held = [] {
    const PageHeap::Totals totals = page_heap.GetTotals();
    return totals.system - totals.returned;
  };
  std::vector<Block> blocks(20);
  Pages first = 0;
  for (int generation = 0; generation < 3; ++generation) {
    for (Block& block : blocks) block = Make(20000);
    while (blocks.back().bytes < kMost) {
      for (Block& block : blocks) Resize(block, block.bytes * 3 / 2);
    }
    if (generation == 0) first = held();
    for (const Block& block : blocks) Free(block.p);
  }
  EXPECT_LE(held(), first + first / 2);
  SetReleasePolicy({});
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
}

}  // namespace
}  // namespace mallow::heap
