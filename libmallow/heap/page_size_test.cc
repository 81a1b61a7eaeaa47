// The system's pages may be longer than the heap's: then only whole ones of the system can be given back.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

constexpr size_t kLongPage = 64 * 1024;

void* MapLongPages(void*, size_t bytes) {
  if (bytes % kLongPage != 0) return nullptr;
  char* p = static_cast<char*>(os::SystemMemoryFunctions().map(nullptr, bytes + kLongPage));
  if (p == nullptr) return nullptr;
  return reinterpret_cast<char*>(RoundUp(reinterpret_cast<uintptr_t>(p), kLongPage));
}

bool ReleaseLongPages(void* p, size_t bytes) {
  EXPECT_TRUE(IsAligned(p, kLongPage));
  EXPECT_TRUE(IsAligned(bytes, kLongPage));
  return os::SystemMemoryFunctions().release(p, bytes);
}

bool UnmapLongPages(void* p, size_t bytes) {
  EXPECT_TRUE(IsAligned(p, kLongPage) && IsAligned(bytes, kLongPage));
  return os::SystemMemoryFunctions().unmap(p, bytes);
}

TEST(PageSize, SixtyFourKiB) {
  static const os::MemoryFunctions kLongPages = {MapLongPages, UnmapLongPages, ReleaseLongPages, kLongPage};
  os::ReplaceMemoryFunctions(&kLongPages);
  ASSERT_EQ(os::PageSize(), kLongPage);
  std::mt19937_64 random(3);
  std::vector<std::pair<unsigned char*, size_t>> live;
  for (int step = 0; step < 40000; ++step) {
    if (random() % 2 == 0 && live.size() < 500) {
      const size_t bytes = 1 + random() % (random() % 20 == 0 ? 3000000 : 5000);
      auto* p = static_cast<unsigned char*>(random() % 2 == 0 ? Allocate(bytes) : AllocateZeroed(bytes));
      ASSERT_NE(p, nullptr);
      p[0] = p[bytes - 1] = p[bytes / 2] = static_cast<unsigned char>(bytes);
      live.emplace_back(p, bytes);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      const auto [p, bytes] = live.back();
      const auto mark = static_cast<unsigned char>(bytes);
      ASSERT_TRUE(p[0] == mark && p[bytes - 1] == mark && p[bytes / 2] == mark);
      Free(p);
      live.pop_back();
    }
    if (step % 2000 == 0) {
      Trim(0);
      ExpectValidHeap();
    }
  }
  void* huge = Allocate(40 << 20);
  memset(huge, 1, 40 << 20);
  Free(huge);
  for (const auto& [p, bytes] : live) Free(p);
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
}

}  // namespace
}  // namespace mallow::heap
