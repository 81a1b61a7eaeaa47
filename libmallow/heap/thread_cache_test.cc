#include "heap/thread_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "heap/heap_checks.h"

namespace mallow::heap {
namespace {

class ThreadCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    Free(Allocate(1));
    cache_ = thread_words.cache;
    Trim(0);
  }
  void TearDown() override {
    ExpectValidHeap();
    Trim(0);
    ExpectEmptyHeap();
  }

  // Leaves `count` free objects of the class in the bin.
  void Fill(SizeClass c, size_t count) {
    std::vector<void*> objects;
    for (size_t i = 0; i < count + 200; ++i) objects.push_back(Allocate(Info(c).bytes));
    for (void* object : objects) Free(object);
    while (cache_->Length(c) > count) kept_.push_back(Allocate(Info(c).bytes));
    for (void* object : kept_) ReleaseObjects(c, &object, 1);
    kept_.clear();
    ASSERT_EQ(cache_->Length(c), count);
  }

  ThreadCache* cache_ = nullptr;
  std::vector<void*> kept_;
};

TEST_F(ThreadCacheTest, LastInFirstOut) {
  void* a = Allocate(100);
  void* b = Allocate(100);
  Free(a);
  Free(b);
  EXPECT_EQ(TryAllocate(100), b);
  EXPECT_EQ(TryAllocate(100), a);
  Free(a);
  Free(b);
}

TEST_F(ThreadCacheTest, BinsGrowWithUseAndStayBounded) {
  for (const size_t bytes : {16, 64}) {
    const SizeClass c = SizeClassOf(bytes);
    std::vector<void*> objects;
    size_t capacity = 0;
    for (int i = 0; i < 20000; ++i) {
      objects.push_back(Allocate(bytes));
      ASSERT_GE(cache_->Capacity(c), capacity);
      capacity = cache_->Capacity(c);
    }
    EXPECT_EQ(capacity, Info(c).max_cached);
    for (void* object : objects) {
      Free(object);
      ASSERT_LE(cache_->Length(c), capacity);
    }
    EXPECT_TRUE(cache_->IsValid());
  }
}

// As of a thread that frees what others allocate.
TEST_F(ThreadCacheTest, ABinThatOnlyTakesInStaysShort) {
  const SizeClass c = SizeClassOf(64);
  std::vector<void*> objects(4000);
  const auto take_in = [&] {
    for (void*& object : objects) ASSERT_EQ(FetchObjects(c, &object, 1), 1u);
    size_t most = 0;
    for (void* object : objects) {
      const size_t before = cache_->Length(c);
      Free(object);
      if (cache_->Length(c) < before) {
        ASSERT_EQ(cache_->Length(c), cache_->Capacity(c) / 8 + 1);
      }
      most = std::max(most, cache_->Length(c));
    }
    ASSERT_EQ(most, cache_->Capacity(c));
  };
  cache_->Flush();
  OpenHitPaths(cache_);
  take_in();
  const size_t room = cache_->Capacity(c);
  EXPECT_LE(room, 64u) << "one overflow lets it grow, the next do not";
  take_in();
  EXPECT_EQ(cache_->Capacity(c), room);
  // Once empty, it grows again.
  while (cache_->Length(c) > 0) objects.push_back(Allocate(64));
  objects.push_back(Allocate(64));
  EXPECT_GT(cache_->Capacity(c), room);
  for (size_t i = 4000; i < objects.size(); ++i) Free(objects[i]);
}

TEST_F(ThreadCacheTest, ATestOfTheHitPathNeverTakesMoreThanThereIs) {
  const SizeClass c = SizeClassOf(512);
  Fill(c, 20);
  std::set<void*> objects;
  while (void* object = TryAllocate(512)) ASSERT_TRUE(objects.insert(object).second);
  EXPECT_EQ(objects.size(), 20u);
  EXPECT_EQ(TryAllocate(512), nullptr) << "and again";
  for (void* object : objects) Free(object);
}

// Else a thread that goes from length to length leaves objects of each in its bins, and the heap grows by the next.
TEST_F(ThreadCacheTest, LongObjectsOnFreshPagesMakeACollection) {
  const SizeClass idle = SizeClassOf(200);
  std::vector<void*> objects;
  const auto grow = [&objects] {
    const Pages before = page_heap.system_pages();
    while (page_heap.system_pages() == before) objects.push_back(Allocate(24 << 10));
  };
  grow();
  Fill(idle, 40);
  grow();
  EXPECT_TRUE(cache_->IsHidden(idle) || cache_->Length(idle) < 40) << "though little was fetched since";
  for (void* object : objects) Free(object);
}

TEST_F(ThreadCacheTest, IdleObjectsGoBackByTheLowWaterMark) {
  const SizeClass c = SizeClassOf(200);
  Fill(c, 40);
  cache_->Collect();
  EXPECT_TRUE(cache_->IsHidden(c));
  EXPECT_EQ(cache_->Length(c), 40u) << "the first collection hides the lower half";
  cache_->Collect();
  EXPECT_EQ(cache_->Length(c), 30u) << "half of what stayed hidden goes back";
  size_t length = 30;
  for (int i = 0; i < 20; ++i) {
    cache_->Collect();
    ASSERT_LE(cache_->Length(c), length);
    length = cache_->Length(c);
    ASSERT_TRUE(cache_->IsValid());
  }
  EXPECT_EQ(length, 0u);
}

TEST_F(ThreadCacheTest, AnOnlyObjectIsHiddenAndFoundAgain) {
  const SizeClass c = SizeClassOf(200);
  Fill(c, 1);
  cache_->Collect();
  EXPECT_TRUE(cache_->IsHidden(c));
  EXPECT_EQ(TryAllocate(200), nullptr) << "the bin looks empty";
  void* object = nullptr;
  EXPECT_EQ(cache_->CopyObjects(c, &object, 0), 0u);
  EXPECT_EQ(object, nullptr);
  ASSERT_EQ(cache_->CopyObjects(c, &object, 1), 1u);
  EXPECT_EQ(Allocate(200), object);
  EXPECT_EQ(cache_->Length(c), 0u);
  Free(object);
  cache_->Collect();
  cache_->Collect();
  EXPECT_EQ(cache_->Length(c), 0u) << "idle, and back in the central list";
  EXPECT_TRUE(cache_->IsValid());
}

TEST_F(ThreadCacheTest, WhatIsFreedAboveAHiddenHalfIsFoundBeforeIt) {
  const SizeClass c = SizeClassOf(200);
  Fill(c, 4);
  cache_->Collect();
  std::vector<void*> above;
  while (void* object = TryAllocate(200)) above.push_back(object);
  ASSERT_EQ(above.size(), 2u);
  for (void* object : above) Free(object);
  EXPECT_TRUE(cache_->IsValid());
  EXPECT_EQ(cache_->Length(c), 4u);
  EXPECT_EQ(TryAllocate(200), above[1]);
  EXPECT_EQ(TryAllocate(200), above[0]);
  EXPECT_EQ(TryAllocate(200), nullptr) << "what is hidden";
  for (void* object : above) Free(object);
}

TEST_F(ThreadCacheTest, WhatTheProgramReachesIsNotIdle) {
  const SizeClass c = SizeClassOf(200);
  Fill(c, 40);
  std::vector<void*> objects(30);
  for (int round = 0; round < 20; ++round) {
    cache_->Collect();
    for (void*& object : objects) object = Allocate(200);
    EXPECT_FALSE(cache_->IsHidden(c));
    for (void* object : objects) Free(object);
    ASSERT_EQ(cache_->Length(c), 40u) << "round " << round;
  }
}

TEST_F(ThreadCacheTest, ABusyUpperHalfLetsTheLowerHalfGo) {
  const SizeClass c = SizeClassOf(200);
  Fill(c, 40);
  for (int round = 0; round < 30; ++round) {
    cache_->Collect();
    void* a = Allocate(200);
    void* b = Allocate(200);
    Free(a);
    Free(b);
  }
  EXPECT_LE(cache_->Length(c), 4u);
}

TEST_F(ThreadCacheTest, ABinKeepsItsRoomWhileItIsUsed) {
  const SizeClass c = SizeClassOf(200);
  Fill(c, 100);
  cache_->Collect();
  const size_t room = cache_->Capacity(c);
  std::vector<void*> objects;
  for (int round = 0; round < 8; ++round) {
    objects.push_back(Allocate(200));
    cache_->Collect();
    ASSERT_EQ(cache_->Capacity(c), room) << "round " << round;
  }
  for (int round = 0; round < 8; ++round) cache_->Collect();
  EXPECT_LE(cache_->Capacity(c), room / 4) << "nobody uses it any more";
  for (void* object : objects) Free(object);
}

TEST_F(ThreadCacheTest, RandomUseWithCollectionsInBetween) {
  std::mt19937_64 random(1);
  std::vector<std::pair<unsigned char*, size_t>> live;
  for (int step = 0; step < 100000; ++step) {
    if (random() % 2 == 0 && live.size() < 2000) {
      const size_t bytes = random() % (random() % 8 == 0 ? 40000 : 600);
      auto* p = static_cast<unsigned char*>(Allocate(bytes + 1));
      p[0] = p[bytes] = static_cast<unsigned char>(bytes);
      live.emplace_back(p, bytes);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      const auto [p, bytes] = live.back();
      ASSERT_EQ(p[0], static_cast<unsigned char>(bytes));
      ASSERT_EQ(p[bytes], static_cast<unsigned char>(bytes));
      Free(p);
      live.pop_back();
    }
    if (step % 500 == 0) cache_->Collect();
    if (step % 5000 == 0) ExpectValidHeap();
  }
  for (const auto& [p, bytes] : live) Free(p);
}

TEST_F(ThreadCacheTest, SizedFreeTakesTheSameWay) {
  const SizeClass c = SizeClassOf(3000);
  void* p = Allocate(3000);
  const size_t length = cache_->Length(c);
  ASSERT_TRUE(TryFreeSized(p, 3000));
  EXPECT_EQ(cache_->Length(c), length + 1);
  EXPECT_FALSE(TryFreeSized(p, kMaxSmallBytes + 1));
}

TEST_F(ThreadCacheTest, LargeObjectsComeBackWithoutThePageHeap) {
  void* p = Allocate(1 << 20);
  Free(p);
  const size_t count = page_heap.GetTotals().large_count;
  EXPECT_EQ(Allocate(1 << 20), p);
  EXPECT_EQ(page_heap.GetTotals().large_count, count);
  Free(p);
  cache_->Collect();
  cache_->Collect();
  EXPECT_EQ(page_heap.GetTotals().large_count, count - 1) << "two collections without use end it";
}

// While a thread is asked to come by its hit paths are closed. What makes the heap want nothing more must open them.
TEST_F(ThreadCacheTest, TrimOpensTheHitPathsAgain) {
  CloseHitPaths();
  Trim(0);
  Free(Allocate(64));
  void* const object = TryAllocate(64);
  ASSERT_NE(object, nullptr);
  EXPECT_TRUE(TryFree(object));
}

}  // namespace
}  // namespace mallow::heap
