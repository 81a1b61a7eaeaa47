// Every call for memory from the system fails once, and then all of them: the heap returns null and stays whole.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

std::atomic<int> calls_until_failure{-1};
std::atomic<bool> fail_forever{false};
std::atomic<bool> failed{false};

void* FailingMap(void* hint, size_t bytes) {
  const int left = calls_until_failure.load();
  if (left == 0 || (failed && fail_forever)) {
    failed = true;
    calls_until_failure = -1;
    return nullptr;
  }
  if (left > 0) --calls_until_failure;
  return os::SystemMemoryFunctions().map(hint, bytes);
}

bool Refuse(void*, size_t) { return false; }

struct Block {
  unsigned char* p;
  size_t bytes;
};

// Grows the heap in every way it can grow. Returns how many calls were refused.
int Churn() {
  std::vector<Block> live;
  int refused = 0;
  auto keep = [&](void* p, size_t bytes) {
    if (p == nullptr) {
      ++refused;
      return;
    }
    memset(p, static_cast<int>(bytes % 251), bytes);
    live.push_back({static_cast<unsigned char*>(p), bytes});
  };
  for (int round = 0; round < 20; ++round) {
    for (size_t bytes = 1; bytes < 200000; bytes = bytes * 3 / 2 + 1) keep(Allocate(bytes), bytes);
    keep(AllocateZeroed(1 << 20), 1 << 20);
    keep(AllocateAligned(1 << 17, 100), 100);
    if (live.size() > 1 && round % 3 == 0) {
      Block& block = live.back();
      if (ResizeInPlace(block.p, block.bytes * 2)) {
        block.bytes *= 2;
        memset(block.p, static_cast<int>(block.bytes % 251), block.bytes);
      }
    }
  }
  for (const Block& block : live) {
    EXPECT_TRUE(AllBytesAre(block.p, block.bytes, static_cast<unsigned char>(block.bytes % 251)));
    Free(block.p);
  }
  return refused;
}

// Each k in a process of its own, because the heap starts empty only once.
void RunWithFailureAt(int k, bool forever, bool release_fails) {
  static os::MemoryFunctions functions = os::SystemMemoryFunctions();
  functions.map = FailingMap;
  if (release_fails) functions.release = Refuse;
  calls_until_failure = k;
  fail_forever = forever;
  os::ReplaceMemoryFunctions(&functions);
  const int refused = Churn();
  os::ReplaceMemoryFunctions(nullptr);
  ExpectValidHeap();
  if (failed && forever) {
    EXPECT_GT(refused, 0);
  }
  EXPECT_EQ(Churn(), 0) << "memory is there again";
  Trim(0);
  ExpectValidHeap();
  if (!release_fails) ExpectEmptyHeap();
  exit(testing::Test::HasFailure() ? 1 : failed ? 0 : 2);
}

TEST(OutOfMemoryDeathTest, EveryCallFailsOnce) {
  GTEST_FLAG_SET(death_test_style, "fast");
  for (int k = 0; k < 12; ++k)
    EXPECT_EXIT(RunWithFailureAt(k, false, false), testing::ExitedWithCode(0), "") << k;
  EXPECT_EXIT(RunWithFailureAt(100000, false, false), testing::ExitedWithCode(2), "")
      << "so many calls there are not";
}

TEST(OutOfMemoryDeathTest, AllCallsFailFromOneOn) {
  GTEST_FLAG_SET(death_test_style, "fast");
  for (int k = 0; k < 12; ++k)
    EXPECT_EXIT(RunWithFailureAt(k, true, false), testing::ExitedWithCode(0), "") << k;
}

TEST(OutOfMemoryDeathTest, TheSystemTakesNothingBack) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_EXIT(RunWithFailureAt(5, false, true), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mallow::heap
