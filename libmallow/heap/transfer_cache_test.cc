#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <thread>
#include <vector>

#include "heap/heap_checks.h"
#include "heap/page_heap.h"
#include "heap/reclaim.h"
#include "heap/shared_lists.h"
#include "heap/test_processors.h"
#include "heap/thread_registry.h"

namespace mallow::heap {
namespace {

std::vector<void*> Fetch(SizeClass c, size_t count) {
  std::vector<void*> objects(count);
  for (size_t got = 0; got < count;) got += FetchObjects(c, objects.data() + got, count - got);
  return objects;
}

TEST(TransferCache, LastInFirstOut) {
  const SizeClass c = SizeClassOf(128);
  std::vector<void*> objects = Fetch(c, 10);
  EXPECT_EQ(shared_lists[c].transfer.Insert(c, objects.data(), 10), 10u);
  EXPECT_EQ(shared_lists[c].transfer.count(), 10u);
  void* slots[20];
  EXPECT_EQ(shared_lists[c].transfer.Remove(slots, 4), 4u);
  EXPECT_TRUE(std::equal(slots, slots + 4, objects.begin() + 6));
  EXPECT_EQ(shared_lists[c].transfer.Remove(slots + 4, 16), 6u);
  EXPECT_EQ(shared_lists[c].transfer.Remove(slots, 1), 0u);
  shared_lists[c].central.Release(objects.data(), 10);
}

TEST(TransferCache, WhatDoesNotFitGoesToTheCentralList) {
  for (SizeClass c : {SizeClassOf(16), SizeClassOf(2048), SizeClassOf(kMaxSmallBytes)}) {
    const size_t capacity = TransferCache::CapacityOf(c);
    std::vector<void*> objects = Fetch(c, capacity + 5);
    ReleaseObjects(c, objects.data(), 3);
    ReleaseObjects(c, objects.data() + 3, objects.size() - 3);
    EXPECT_EQ(shared_lists[c].transfer.count(), capacity);
    EXPECT_TRUE(shared_lists[c].transfer.IsValid(c));
    shared_lists[c].transfer.ReleaseAll(c);
    EXPECT_EQ(shared_lists[c].transfer.count(), 0u);
    EXPECT_EQ(shared_lists[c].central.free_objects(), 0u);
  }
}

TEST(TransferCache, MakesRoomOnlyWithMuch) {
  const SizeClass c = SizeClassOf(kPageBytes);
  const size_t capacity = TransferCache::CapacityOf(c);
  std::vector<void*> objects = Fetch(c, capacity);
  ASSERT_EQ(shared_lists[c].transfer.Insert(c, objects.data(), 4), 4u);
  EXPECT_FALSE(MakeRoom());
  EXPECT_EQ(shared_lists[c].transfer.count(), 4u);
  ASSERT_EQ(shared_lists[c].transfer.Insert(c, objects.data() + 4, capacity - 4), capacity - 4);
  ASSERT_GE(capacity * kPageBytes, page_heap.system_pages() * kPageBytes / 8);
  EXPECT_TRUE(MakeRoom());
  EXPECT_EQ(shared_lists[c].transfer.count(), 0u);
  EXPECT_FALSE(MakeRoom());
}

// What was handed over serves another class: the heap does not grow.
TEST(TransferCache, IsEmptiedBeforeTheHeapGrows) {
  const SizeClass held = SizeClassOf(kPageBytes), wanted = SizeClassOf(2 * kPageBytes);
  const size_t capacity = TransferCache::CapacityOf(held);
  std::vector<void*> objects = Fetch(held, capacity);
  std::vector<Span*> others;
  while (Span* span = page_heap.AllocateSmall(wanted, PageHeap::Growth::kForbidden)) others.push_back(span);
  ReleaseObjects(held, objects.data(), capacity);
  ASSERT_EQ(shared_lists[held].transfer.count(), capacity);
  const Pages before = page_heap.system_pages();
  std::vector<void*> fetched = Fetch(wanted, 4);
  EXPECT_EQ(page_heap.system_pages(), before);
  EXPECT_EQ(shared_lists[held].transfer.count(), 0u);
  shared_lists[wanted].central.Release(fetched.data(), fetched.size());
  for (Span* span : others) page_heap.Free(span);
}

// Two processors whose transfer caches differ; fewer where there are none.
std::vector<unsigned> TwoProcessors() {
  std::vector<unsigned> two;
  for (const unsigned processor : ProcessorsAllowed()) {
    if (two.size() < 2 && (two.empty() || processor % kTransferCaches != two[0] % kTransferCaches))
      two.push_back(processor);
  }
  return two;
}

// Runs `body` in a thread of its own, while one more has a cache.
template <typename Body>
void RunBesideAnother(Body body) {
  std::thread([&] {
    ASSERT_NE(CurrentCache(), nullptr);
    std::latch another_lives(1), all_is_seen(1);
    std::thread another([&] {
      EXPECT_NE(CurrentCache(), nullptr);
      another_lives.count_down();
      all_is_seen.wait();
    });
    another_lives.wait();
    body();
    all_is_seen.count_down();
    another.join();
  }).join();
}

TEST(TransferCache, AProcessorHasItsOwnWhereThreadsAreSeveral) {
  const std::vector<unsigned> two = TwoProcessors();
  if (two.size() < 2) GTEST_SKIP() << "it needs two processors whose transfer caches differ";
  const SizeClass c = SizeClassOf(512);
  RunBesideAnother([&] {
    std::vector<void*> objects = Fetch(c, Info(c).objects), slots(8);
    ASSERT_EQ(shared_lists[c].central.free_objects(), 0u);
    RunOn(two[0]);
    ReleaseObjects(c, objects.data(), 4);
    RunOn(two[1]);
    ReleaseObjects(c, objects.data() + 4, 4);
    EXPECT_EQ(ObjectsInTransfer(c), 8u);
    RunOn(two[0]);
    EXPECT_EQ(FetchObjects(c, slots.data(), 3), 3u);
    EXPECT_TRUE(std::equal(slots.begin(), slots.begin() + 3, objects.begin() + 1)) << "its own first";
    EXPECT_EQ(FetchObjects(c, slots.data() + 3, 3), 1u);
    EXPECT_EQ(slots[3], objects[0]);
    EXPECT_EQ(FetchObjects(c, slots.data() + 4, 4), 4u);
    EXPECT_TRUE(std::equal(slots.begin() + 4, slots.end(), objects.begin() + 4)) << "then those of others";
    EXPECT_EQ(ObjectsInTransfer(c), 0u);
    shared_lists[c].central.Release(objects.data(), objects.size());
  });
}

TEST(TransferCache, LeavesShortObjectsWhereTheyAreUsed) {
  const std::vector<unsigned> two = TwoProcessors();
  if (two.size() < 2) GTEST_SKIP() << "it needs two processors whose transfer caches differ";
  const SizeClass c = SizeClassOf(64);
  RunBesideAnother([&] {
    std::vector<void*> objects = Fetch(c, Info(c).objects), slots(8);
    CentralList& central = shared_lists[c].central;
    ASSERT_EQ(central.free_objects(), 0u);
    RunOn(two[0]);
    ReleaseObjects(c, objects.data(), 8);
    ASSERT_EQ(FetchObjects(c, slots.data(), 1), 1u);
    ReleaseObjects(c, slots.data(), 1);
    RunOn(two[1]);
    std::vector<void*> fresh = Fetch(c, 1);
    EXPECT_EQ(std::find(objects.begin(), objects.end(), fresh[0]), objects.end());
    EXPECT_EQ(ObjectsInTransfer(c), 8u);
    const std::vector<void*> rest = Fetch(c, central.free_objects());
    fresh.insert(fresh.end(), rest.begin(), rest.end());
    EXPECT_EQ(FetchObjects(c, slots.data(), 8), 8u) << "since then none was taken there";
    EXPECT_TRUE(std::equal(slots.begin(), slots.end(), objects.begin()));
    central.Release(objects.data(), objects.size());
    central.Release(fresh.data(), fresh.size());
  });
  Trim(0);
  ExpectEmptyHeap();
}

TEST(TransferCache, IdleObjectsGoBackByHalves) {
  const SizeClass c = SizeClassOf(256);
  std::vector<void*> objects = Fetch(c, 64);
  ASSERT_EQ(shared_lists[c].transfer.Insert(c, objects.data(), 64), 64u);
  shared_lists[c].transfer.ReleaseIdle(c);
  EXPECT_EQ(shared_lists[c].transfer.count(), 64u) << "nothing is known of the time before the first call";
  shared_lists[c].transfer.ReleaseIdle(c);
  EXPECT_EQ(shared_lists[c].transfer.count(), 32u);
  void* slots[32];
  ASSERT_EQ(shared_lists[c].transfer.Remove(slots, 32), 32u);
  ASSERT_EQ(shared_lists[c].transfer.Insert(c, slots, 32), 32u);
  shared_lists[c].transfer.ReleaseIdle(c);
  EXPECT_EQ(shared_lists[c].transfer.count(), 32u) << "all were used since the last call";
  shared_lists[c].transfer.ReleaseAll(c);
  Trim(0);
  ExpectEmptyHeap();
}

}  // namespace
}  // namespace mallow::heap
