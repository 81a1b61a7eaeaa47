#include "heap/idle_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/page_heap.h"
#include "heap/thread_registry.h"
#include "os/thread.h"

namespace mallow::heap {
namespace {

constexpr uint64_t kMillisecond = 1000 * 1000;
constexpr uint64_t kInterval = 100 * kMillisecond;
using Step = IdleWatch::Step;

// Makes calls at a pace until one looks at the clock, and returns what that says.
Step NextLook(IdleWatch& watch, uint64_t& now, uint64_t between_calls, bool wanted, int* calls = nullptr) {
  for (int made = 1;; ++made) {
    now += between_calls;
    if (!watch.OnCall()) continue;
    if (calls != nullptr) *calls = made;
    return watch.Look(now, kInterval, wanted);
  }
}

TEST(IdleWatch, AQuietThreadLooksAtEveryCallAndCollectsOncePerInterval) {
  IdleWatch watch = {};
  uint64_t now = 5;
  watch.Start(now);
  int collections = 0;
  for (int call = 0; call < 100; ++call) {
    int calls = 0;
    const Step step = NextLook(watch, now, 10 * kMillisecond, true, &calls);
    EXPECT_EQ(calls, 1);
    EXPECT_NE(step, Step::kStop);
    collections += step == Step::kCollect;
  }
  EXPECT_EQ(collections, 10);
}

TEST(IdleWatch, NobodyLooksWhileItIsOff) {
  IdleWatch watch = {};
  for (int call = 0; call < 1000; ++call) EXPECT_FALSE(watch.OnCall());
  watch.Start(5);
  EXPECT_TRUE(watch.on());
  EXPECT_TRUE(watch.OnCall());
  EXPECT_TRUE(watch.on()) << "until the look says otherwise, whoever asks meanwhile";
  watch.Stop();
  EXPECT_FALSE(watch.on());
  EXPECT_FALSE(watch.OnCall());
}

TEST(IdleWatch, ABusyThreadLooksSeldomAndStopsWhenNothingIsWanted) {
  IdleWatch watch = {};
  uint64_t now = 5;
  watch.Start(now);
  int calls = 0;
  for (int look = 0; look < 20; ++look) EXPECT_NE(NextLook(watch, now, 10, true, &calls), Step::kStop);
  EXPECT_EQ(calls, 64);
  EXPECT_EQ(NextLook(watch, now, 10, false), Step::kStop);
}

TEST(IdleWatch, AQuietThreadGoesOnForItsCachesAndThenStops) {
  IdleWatch watch = {};
  uint64_t now = 5;
  watch.Start(now);
  int collections = 0;
  Step step;
  while ((step = NextLook(watch, now, kInterval, false)) != Step::kStop)
    collections += step == Step::kCollect;
  EXPECT_EQ(collections, 12);
}

TEST(IdleWatch, ABusyThreadThatWasWokenStaysForAnIntervalOfPeace) {
  IdleWatch watch = {};
  uint64_t now = kInterval;
  watch.Wake(true);
  EXPECT_TRUE(watch.on());
  const uint64_t begin = now;
  while (NextLook(watch, now, 1000, false) != Step::kStop) EXPECT_LT(now, begin + 2 * kInterval);
  EXPECT_GE(now, begin + kInterval);
}

TEST(IdleWatch, ABusyThreadThatIsNotToStayStopsAtOnceAndAQuietOneGoesOn) {
  IdleWatch watch = {};
  uint64_t now = kInterval;
  watch.Wake(false);
  int looks = 1;
  while (NextLook(watch, now, 10, false) != Step::kStop) EXPECT_LT(++looks, 10);
  watch.Stop();
  watch.Wake(false);
  int collections = 0;
  Step step;
  while ((step = NextLook(watch, now, kInterval, false)) != Step::kStop)
    collections += step == Step::kCollect;
  EXPECT_EQ(collections, 12);
}

TEST(IdleWatch, ASecondWakeIsAsManyRoundsMoreButNoLaterRound) {
  IdleWatch watch = {};
  uint64_t now = kInterval;
  watch.Wake(false);
  int collections = 0;
  for (int call = 0; call < 100; ++call) {
    watch.Wake(false);
    collections += NextLook(watch, now, 10 * kMillisecond, false) == Step::kCollect;
  }
  EXPECT_LE(collections, 10) << "one per interval, however often others call";
  EXPECT_GE(collections, 9);
  Step step;
  while ((step = NextLook(watch, now, kInterval, false)) != Step::kStop)
    collections += step == Step::kCollect;
  EXPECT_LE(collections, 10 + 12);
  EXPECT_GE(collections, 9 + 12);
}

// The whole mechanism: after much was freed, pairs that the cache could serve for ever bring the memory back.
TEST(IdleWatch, PairsGiveIdleMemoryBack) {
  ReleasePolicy quick = page_heap.release_policy();
  quick.interval = kMillisecond;
  page_heap.SetReleasePolicy(quick);
  constexpr size_t kBytes = 1000;
  constexpr int kBlocks = 60000;
  static void* blocks[kBlocks];
  for (void*& block : blocks) block = Allocate(kBytes);
  for (void* block : blocks) Free(block);
  bool closed = false;
  // What is freed after the last look, fewer than 64 pages, lets nobody come by again.
  const Pages enough = 2 * quick.keep / kPageBytes + 64;
  const auto idle = [] {
    const PageHeap::Totals totals = page_heap.GetTotals();
    return totals.free - totals.returned;
  };
  const auto hits = [] { return internal::MayHit(); };
  for (int pair = 0; pair < 100 * 1000 * 1000 && !(closed && hits() && idle() <= enough); ++pair) {
    for (int i = 0; i < 1000; ++i) Free(Allocate(64));
    closed |= !hits();
  }
  EXPECT_TRUE(closed);
  EXPECT_LE(idle(), enough);
  EXPECT_TRUE(hits()) << "a busy thread hits again";
  EXPECT_TRUE(thread_words.cache->IsValid());
  page_heap.SetReleasePolicy({});
}

// And of another thread, when who freed it never calls again: sleeps, or has ended.
void GiveBackWhatAnotherFreed(bool ends) {
  ReleasePolicy quick = page_heap.release_policy();
  quick.interval = kMillisecond;
  page_heap.SetReleasePolicy(quick);
  for (int i = 0; i < 100; ++i) Free(Allocate(64));
  std::atomic<bool> freed{false}, over{false};
  std::thread other([&] {
    std::vector<void*> blocks(60000);
    for (void*& block : blocks) block = Allocate(1000);
    for (void* block : blocks) Free(block);
    freed = true;
    while (!ends && !over) os::Nap();
  });
  if (ends) other.join();
  while (!freed) os::Nap();
  const Pages returned = page_heap.GetTotals().returned;
  EXPECT_FALSE(internal::MayHit());
  const Pages enough = 2 * quick.keep / kPageBytes + 64;
  Pages idle = SIZE_MAX;
  for (int round = 0; round < 20000 && idle > enough; ++round) {
    for (int i = 0; i < 1000; ++i) Free(Allocate(64));
    const PageHeap::Totals totals = page_heap.GetTotals();
    idle = totals.free - totals.returned;
  }
  EXPECT_LE(idle, enough);
  EXPECT_GT(page_heap.GetTotals().returned, returned);
  over = true;
  if (!ends) other.join();
  page_heap.SetReleasePolicy({});
}

TEST(IdleWatch, WhatASleepingThreadFreedGoesBack) { GiveBackWhatAnotherFreed(false); }

TEST(IdleWatch, WhatAnEndedThreadFreedGoesBack) { GiveBackWhatAnotherFreed(true); }

}  // namespace
}  // namespace mallow::heap
