// Where the heap's growth meets a boundary of the page map's leaves. A program of its own: the heap is empty at first.
#include <gtest/gtest.h>

#include "base/bits.h"
#include "heap/page_heap.h"
#include "heap/page_map.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

constexpr Pages kLeaf = PageMap::LeafSpanBytes() / kPageBytes;

size_t growth_bytes = 0;
char* place = nullptr;
Pages leaves = 0;

void* MapAtThePlace(void* hint, size_t bytes) {
  leaves += bytes == PageMap::LeafBytes();
  return os::SystemMemoryFunctions().map(bytes == growth_bytes ? place : hint, bytes);
}

// A boundary with 8 GiB around it in which nothing is mapped.
PageId FreeBoundary(int number) {
  void* const mapped = os::Map(nullptr, os::PageSize());
  os::Unmap(mapped, os::PageSize());
  return RoundDown(PageOf(mapped), kLeaf) - static_cast<Pages>(number) * 8 * kLeaf;
}

// A leaf is 1 MiB of what a limit of data allows.
TEST(Growth, LiesInOneLeafWhereThatIsEnough) {
  static const os::MemoryFunctions kAtThePlace = {MapAtThePlace, os::SystemMemoryFunctions().unmap,
                                                  os::SystemMemoryFunctions().release};
  // Eighths of the growth that lie below the boundary, those that are kept, and the leaves that it takes.
  const struct { Pages below, kept, leaves; } kCases[] = {{2, 6, 1}, {6, 6, 1}, {4, 8, 2}};
  int number = 0;
  for (const auto& one : kCases) {
    const PageHeap::Totals before = page_heap.GetTotals();
    // More than all that is free, and five eighths of the growth are to be enough for it.
    const Pages pages = RoundUp(before.system + 128, Pages{4});
    const Pages eighth = 2 * pages / 8;
    growth_bytes = 8 * eighth * kPageBytes;
    place = AddressOf(FreeBoundary(++number) - one.below * eighth);
    leaves = 0;
    os::ReplaceMemoryFunctions(&kAtThePlace);
    Span* const span = page_heap.AllocateGrowing(pages);
    os::ReplaceMemoryFunctions(nullptr);
    ASSERT_NE(span, nullptr);
    EXPECT_EQ(page_heap.GetTotals().system - before.system, eighth * one.kept) << one.below;
    EXPECT_EQ(leaves, one.leaves) << one.below;
    EXPECT_TRUE(page_heap.IsValid());
    page_heap.Free(span);
  }
}

}  // namespace
}  // namespace mallow::heap
