#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/thread_cache.h"

namespace mallow::heap {
namespace {

constexpr char kTwice[] = "free\\(\\): the block was freed twice";

void* Hidden(void* p) {
  asm volatile("" : "+r"(p));
  return p;
}

TEST(ExitCheck, SaysNothingOfASoundHeap) {
  std::vector<void*> blocks;
  for (size_t bytes = 1; bytes < 300000; bytes += bytes / 8 + 1) {
    for (int i = 0; i < 200; ++i) blocks.push_back(Allocate(bytes));
    CheckBeforeExit();
    for (void* p : blocks) Free(p);
    CheckBeforeExit();
    blocks.clear();
  }
}

TEST(ExitCheckDeathTest, FindsABlockThatWasFreedTwice) {
  GTEST_FLAG_SET(death_test_style, "fast");
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{5000}}) {
    EXPECT_DEATH(
        {
          void* p = Allocate(bytes);
          void* other = Allocate(bytes);
          Free(p);
          Free(other);
          Free(Hidden(p));
          CheckBeforeExit();
        },
        kTwice)
        << bytes;
  }
}

TEST(ExitCheckDeathTest, FindsOneAmongMany) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_DEATH(
      {
        std::vector<void*> blocks;
        for (int i = 0; i < 100; ++i) blocks.push_back(Allocate(100));
        for (void* p : blocks) Free(p);
        void* const twice = Hidden(blocks[99]);
        if (thread_words.cache->Length(SizeClassOf(100)) > 32) Free(twice);
        CheckBeforeExit();
      },
      kTwice);
}

TEST(ExitCheckDeathTest, FindsOneThatTheCentralListHas) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_DEATH(
      {
        void* kept = Allocate(100);
        void* p = Allocate(100);
        Free(p);
        Trim(0);
        Free(Hidden(p));
        CheckBeforeExit();
        Free(kept);
      },
      kTwice);
}

TEST(ExitCheckDeathTest, FindsOneOfAThreadThatHasEnded) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_DEATH(
      {
        Free(Allocate(100));
        std::thread([] {
          void* p = Allocate(100);
          void* other = Allocate(100);
          Free(p);
          Free(other);
          Free(Hidden(p));
        }).join();
        CheckBeforeExit();
      },
      kTwice);
}

TEST(ExitCheckDeathTest, FindsAPointerIntoABlock) {
  GTEST_FLAG_SET(death_test_style, "fast");
  EXPECT_DEATH(
      {
        Free(Hidden(static_cast<char*>(Allocate(100)) + 16));
        CheckBeforeExit();
      },
      "free\\(\\): the pointer is inside a block");
}

}  // namespace
}  // namespace mallow::heap
