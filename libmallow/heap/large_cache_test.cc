#include "heap/large_cache.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/statistics.h"
#include "heap/thread_registry.h"

namespace mallow::heap {
namespace {

constexpr Pages kPages = 100;

TEST(LargeCache, KeepsSpansForTheNextOfTheirLength) {
  LargeCache cache;
  Span* one = page_heap.AllocateLarge(kPages, 1);
  Span* other = page_heap.AllocateLarge(kPages + 1, 1);
  EXPECT_EQ(cache.Take(kPages), nullptr);
  EXPECT_TRUE(cache.Keep(one) && cache.Keep(other));
  EXPECT_EQ(one->state, SpanState::kKept);
  EXPECT_EQ(LargeSpanAt(one->start()), nullptr);
  EXPECT_EQ(cache.count(), 2u);
  EXPECT_EQ(cache.pages(), 2 * kPages + 1);
  EXPECT_TRUE(cache.IsValid());
  EXPECT_EQ(cache.Take(kPages - 1), nullptr);
  EXPECT_EQ(cache.Take(kPages + 1), other);
  EXPECT_EQ(LargeSpanAt(other->start()), other);
  EXPECT_TRUE(cache.IsValid());
  page_heap.Free(other);
  cache.Flush();
  EXPECT_EQ(cache.count(), 0u);
  EXPECT_EQ(cache.pages(), 0u);
}

TEST(LargeCache, HasLimits) {
  LargeCache cache;
  std::vector<Span*> refused;
  for (int i = 0; i < 20; ++i) {
    Span* span = page_heap.AllocateLarge(8 << 20 >> kPageShift >> i % 4, 1);
    if (!cache.Keep(span)) refused.push_back(span);
    EXPECT_LE(cache.pages() * kPageBytes, size_t{8} << 20);
    EXPECT_TRUE(cache.IsValid());
  }
  for (Span* span : refused) page_heap.Free(span);
  Span* long_span = page_heap.AllocateLarge((8 << 20 >> kPageShift) + 1, 1);
  cache.Flush();
  EXPECT_FALSE(cache.Keep(long_span));
  EXPECT_FALSE(LargeCache::Full().Keep(long_span));
  EXPECT_EQ(LargeCache::Full().Take(1), nullptr);
  page_heap.Free(long_span);
}

TEST(LargeCache, WhatIsIdleForTwoCollectionsGoesBack) {
  LargeCache cache;
  Span* used = page_heap.AllocateLarge(kPages, 1);
  Span* idle = page_heap.AllocateLarge(kPages + 1, 1);
  EXPECT_TRUE(cache.Keep(used) && cache.Keep(idle));
  for (int collection = 0; collection < 5; ++collection) {
    EXPECT_EQ(cache.Take(kPages), used);
    EXPECT_TRUE(cache.Keep(used));
    cache.Collect();
  }
  EXPECT_EQ(cache.count(), 1u);
  cache.Collect();
  EXPECT_EQ(cache.count(), 0u);
}

TEST(LargeCache, KeepsNothingThatGoesBackAtOnce) {
  SetReleasePolicy({.interval = 0, .at_once = size_t{1} << 20});
  const auto returns = [](size_t bytes) {
    void* const block = Allocate(bytes);
    memset(block, 1, bytes);
    const Pages before = page_heap.GetTotals().returned;
    Free(block);
    return (page_heap.GetTotals().returned - before) * kPageBytes;
  };
  for (const size_t bytes : {size_t{1} << 20, size_t{2} << 20, size_t{8} << 20})
    EXPECT_EQ(returns(bytes), bytes);
  EXPECT_EQ(returns((1 << 20) - kPageBytes), 0u);
  EXPECT_EQ(CurrentCache()->large().count(), 1u);
  EXPECT_TRUE(CurrentCache()->large().IsValid());
  SetReleasePolicy({.interval = 0});
  EXPECT_EQ(CurrentCache()->large().count(), 0u);
  EXPECT_EQ(returns(1 << 20), 0u);
}

// Threads that sleep keep what they have: many of them must not have much.
TEST(LargeCache, KeepsLessInEachOfManyThreads) {
  constexpr size_t kThreads = 100, kBlocks = 4;
  page_heap.SetReleasePolicy({.interval = 0});
  std::barrier worked(kThreads + 1), looked(kThreads + 1);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      void* blocks[kBlocks];
      for (void*& block : blocks) block = Allocate(2 << 20);
      for (void* block : blocks) Free(block);
      worked.arrive_and_wait();
      looked.arrive_and_wait();
    });
  }
  worked.arrive_and_wait();
  // The first ones kept what was theirs when there were few.
  EXPECT_LT(GetStatistics().kept_large_bytes, size_t{200} << 20);
  ThreadCache* const cache = CurrentCache();
  cache->Collect();
  Free(Allocate(2 << 20));
  EXPECT_EQ(cache->large().count(), 0u);
  Free(Allocate(512 << 10));
  EXPECT_EQ(cache->large().count(), 1u);
  EXPECT_TRUE(cache->large().IsValid());
  looked.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  cache->large().Flush();
  cache->Collect();
  Free(Allocate(8 << 20));
  EXPECT_EQ(cache->large().pages(), PagesFor(8 << 20));
  Trim(0);
}

TEST(LargeCache, IsEmptiedBeforeTheHeapGrows) {
  page_heap.SetReleasePolicy({.interval = 0});
  constexpr size_t kKept = size_t{8} << 20, kWanted = size_t{7} << 20;
  CurrentCache()->large().Flush();
  void* const kept = Allocate(kKept);
  std::vector<Span*> others;
  while (Span* span = page_heap.AllocateLarge(PagesFor(kWanted), 1, PageHeap::Growth::kForbidden)) {
    others.push_back(span);
  }
  Free(kept);
  ASSERT_EQ(CurrentCache()->large().pages(), PagesFor(kKept));
  const Pages before = page_heap.system_pages();
  void* const p = Allocate(kWanted);
  EXPECT_EQ(page_heap.system_pages(), before);
  EXPECT_EQ(CurrentCache()->large().pages(), 0u);
  Free(p);
  for (Span* span : others) page_heap.Free(span);
  page_heap.SetReleasePolicy({});
}

TEST(LargeCache, ServesTheHitPathsOfItsThread) {
  // Idle memory of the tests before would close them.
  page_heap.SetReleasePolicy({.interval = 0});
  const size_t sizes[] = {kMaxSmallBytes + 1, size_t{1} << 20, (size_t{8} << 20) - 1, size_t{8} << 20};
  for (const size_t bytes : sizes) {
    Free(Allocate(bytes));
    void* const p = TryAllocateLarge(bytes);
    ASSERT_NE(p, nullptr) << bytes;
    EXPECT_GE(UsableBytes(p), bytes);
    EXPECT_TRUE(TryFreeLarge(p));
    Trim(0);
  }
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX - kPageBytes, size_t{PTRDIFF_MAX}, size_t{5} << 20}) {
    EXPECT_EQ(TryAllocateLarge(bytes), nullptr);
  }
  int foreign = 0;
  EXPECT_FALSE(TryFreeLarge(&foreign));
  EXPECT_FALSE(TryFreeLarge(nullptr));
}

TEST(LargeCache, GivesBackWhatAProgramThatGoesOnWithOtherLengthsLeaves) {
  page_heap.SetReleasePolicy({.interval = 0});
  // So much that the heap need not grow, which would give back all that is kept.
  page_heap.Free(page_heap.AllocateLarge(PagesFor(64 << 20), 1));
  void* const used = Allocate(1 << 20);
  void* const left = Allocate(3 << 20);
  Free(used);
  Free(left);
  std::vector<void*> others;
  for (size_t mebibytes : {4, 5, 6}) {
    EXPECT_EQ(Allocate(1 << 20), used);
    Free(used);
    others.push_back(Allocate(mebibytes << 20));
  }
  EXPECT_EQ(TryAllocateLarge(3 << 20), nullptr);
  for (void* p : others) Free(p);
  Trim(0);
}

TEST(LargeCacheDeathTest, AKeptBlockIsNotFreedAgain) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        void* p = Allocate(1 << 20);
        Free(p);
        Free(p);
      },
      "the block was freed twice");
}

}  // namespace
}  // namespace mallow::heap
