#include "words.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <mallow/expect.h>

#include <stdexcept>
#include <thread>
#include <vector>

TEST(Words, AreOneBlockEach) {
  MALLOW_EXPECT_ALLOCATIONS(3) { CopyWords(3); }
  MALLOW_EXPECT_ALLOCATIONS(0) {}
  MALLOW_EXPECT_ALLOCATIONS_AT_MOST(5) { CopyWords(4); }
}

TEST(Words, AreCountedByTheirThread) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([i] {
      for (int turn = 0; turn < 100; turn++) MALLOW_EXPECT_ALLOCATIONS(i) CopyWords(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  MALLOW_EXPECT_ALLOCATIONS(1) std::vector<int> numbers(100);
}

static int Leaves(bool early) {
  MALLOW_EXPECT_ALLOCATIONS(2) {
    CopyWords(2);
    if (early) return 1;
  }
  return 2;
}

TEST(Words, MayLeaveTheBraces) {
  EXPECT_EQ(Leaves(true), 1);
  EXPECT_EQ(Leaves(false), 2);
  MALLOW_EXPECT_ALLOCATIONS(1) {
    CopyWords(1);
    break;
  }
  try {
    MALLOW_EXPECT_ALLOCATIONS_AT_MOST(9) {
      CopyWords(1);
      throw std::runtime_error("out");
    }
  } catch (const std::runtime_error&) {
  }
  MALLOW_EXPECT_ALLOCATIONS(3) {
    CopyWords(1);
    MALLOW_EXPECT_ALLOCATIONS(2) CopyWords(2);
  }
}

// A failure says how many there were, and where to see them.
TEST(Words, AreNotMore) {
  EXPECT_NONFATAL_FAILURE(
      MALLOW_EXPECT_ALLOCATIONS(2) { CopyWords(3); },
      "3 allocations of 15 bytes, and 2 expected; what they are: mallow report --region 'words_test.cc:");
  EXPECT_NONFATAL_FAILURE(
      MALLOW_EXPECT_ALLOCATIONS_AT_MOST(1) { CopyWords(2); },
      "2 allocations of 10 bytes, and at most 1 expected");
}
