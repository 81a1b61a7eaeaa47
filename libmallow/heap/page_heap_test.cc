#include "heap/page_heap.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "heap/page_map.h"
#include "os/clock.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

// A reference model: the live spans by first page. The heap must never hand out a page twice, and what it says
// to be clean must read as zero.
class Model {
 public:
  void Add(Span* span) {
    const auto after = live_.lower_bound(span->page);
    if (after != live_.end()) {
      ASSERT_LE(span->end(), after->first);
    }
    if (after != live_.begin()) {
      ASSERT_LE(std::prev(after)->second->end(), span->page);
    }
    live_[span->page] = span;
    pages_ += span->pages;
  }
  void Remove(Span* span) {
    live_.erase(span->page);
    pages_ -= span->pages;
  }
  Span* Any(uint64_t random) const {
    return std::next(live_.begin(), static_cast<long>(random % live_.size()))->second;
  }
  size_t size() const { return live_.size(); }
  Pages pages() const { return pages_; }
  const std::map<PageId, Span*>& live() const { return live_; }

 private:
  std::map<PageId, Span*> live_;
  Pages pages_ = 0;
};

// `written` pages at the start were given to the program before.
void ExpectCleanPagesAreZero(const Span* span, Pages written) {
  static const char kZeros[kPageBytes] = {};
  for (PageId page = span->page + written; page < span->end(); ++page) {
    if (PageMap::StateOf(page) == PageState::kClean) {
      ASSERT_EQ(memcmp(AddressOf(page), kZeros, kPageBytes), 0);
    }
  }
}

void ExpectAgrees(const Model& model) {
  ASSERT_TRUE(page_heap.IsValid());
  const PageHeap::Totals totals = page_heap.GetTotals();
  ASSERT_EQ(totals.system - totals.free, model.pages());
  ASSERT_LE(totals.returned, totals.free);
  for (const auto& [page, span] : model.live()) {
    ASSERT_EQ(PageMap::SpanOf(page), span);
    ASSERT_EQ(PageMap::SpanOf(span->end() - 1), span);
    ASSERT_NE(span->state, SpanState::kFree);
    const Pages marked = span->state == SpanState::kSmall ? span->marked_pages() : 0;
    for (PageId inside = page; inside < span->end(); ++inside) {
      ASSERT_EQ(PageMap::ClassOf(AddressOf(inside)), inside < page + marked ? span->size_class : 0);
    }
  }
}

void RunRandomOperations(unsigned seed, int steps) {
  std::mt19937_64 random(seed);
  Model model;
  for (int step = 0; step < steps; ++step) {
    const unsigned choice = random() % 100;
    if (choice < 25 || model.size() == 0) {
      const SizeClass c = 1 + random() % (kClassCount - 1);
      Span* span = page_heap.AllocateSmall(c);
      ASSERT_NE(span, nullptr);
      ASSERT_EQ(span->free_objects, Info(c).objects);
      model.Add(span);
    } else if (choice < 50) {
      const Pages pages = 1 + random() % (random() % 20 == 0 ? 1000 : 100);
      const Pages alignment = random() % 4 == 0 ? Pages{1} << random() % 8 : 1;
      Span* span = page_heap.AllocateLarge(pages, alignment);
      ASSERT_NE(span, nullptr);
      ASSERT_EQ(span->page % alignment, 0u);
      ASSERT_EQ(span->pages, pages);
      ExpectCleanPagesAreZero(span, 0);
      memset(span->start(), 0xee, pages * kPageBytes);
      model.Add(span);
    } else if (choice < 60) {
      Span* span = model.Any(random());
      if (span->state != SpanState::kLarge) continue;
      model.Remove(span);
      const Pages before = span->pages;
      const Pages wanted = 1 + random() % (2 * before);
      if (page_heap.Resize(span, wanted)) {
        ASSERT_EQ(span->pages, wanted);
        ExpectCleanPagesAreZero(span, before);
        memset(span->start(), 0xee, wanted * kPageBytes);
      } else {
        ASSERT_GT(wanted, before);
        ASSERT_EQ(span->pages, before);
      }
      model.Add(span);
    } else if (choice < 62) {
      page_heap.ReleaseDownTo(random() % 500);
    } else {
      Span* span = model.Any(random());
      model.Remove(span);
      page_heap.Free(span);
    }
    if (step % 256 == 0) ExpectAgrees(model);
    if (testing::Test::HasFatalFailure()) return;
  }
  while (model.size() > 0) {
    Span* span = model.Any(random());
    model.Remove(span);
    page_heap.Free(span);
  }
  ExpectAgrees(model);
  page_heap.ReleaseDownTo(0);
  const PageHeap::Totals totals = page_heap.GetTotals();
  EXPECT_EQ(totals.free, totals.system);
  EXPECT_EQ(totals.returned, totals.system);
  EXPECT_EQ(totals.large_count, 0u);
}

TEST(PageHeap, AgreesWithAModel) {
  for (unsigned seed = 1; seed <= 3; ++seed) RunRandomOperations(seed, 3000);
}

TEST(PageHeap, NeighboursMergeInEveryOrder) {
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    Span* whole = page_heap.AllocateLarge(90, 1);
    const PageId start = whole->page;
    page_heap.Free(whole);
    Span* parts[3];
    for (Span*& part : parts) part = page_heap.AllocateLarge(30, 1);
    for (int i : order) page_heap.Free(parts[i]);
    Span* again = page_heap.AllocateLarge(90, 1);
    EXPECT_EQ(again->page, start);
    page_heap.Free(again);
  }
  EXPECT_TRUE(page_heap.IsValid());
}

TEST(PageHeap, LongObjectsGoBackToTheSystemAtOnce) {
  const Pages pages = page_heap.release_policy().at_once / kPageBytes;
  Span* span = page_heap.AllocateLarge(pages, 1);
  memset(span->start(), 1, pages * kPageBytes);
  page_heap.Free(span);
  const PageHeap::Totals totals = page_heap.GetTotals();
  EXPECT_GE(totals.returned, pages);
}

TEST(PageHeap, WhatIsNoLongerThanASmallObjectNeverGoesBackAtOnce) {
  page_heap.SetReleasePolicy({.interval = 0, .at_once = 0});
  const auto returns = [](Span* span) {
    memset(span->start(), 1, span->pages * kPageBytes);
    const Pages before = page_heap.GetTotals().returned;
    page_heap.Free(span);
    return page_heap.GetTotals().returned - before;
  };
  constexpr Pages kLongest = kMaxSmallBytes / kPageBytes;
  for (SizeClass c = 1; c < kClassCount; ++c) EXPECT_EQ(returns(page_heap.AllocateSmall(c)), 0u) << c;
  EXPECT_EQ(returns(page_heap.AllocateLarge(kLongest, 2)), 0u);
  EXPECT_EQ(returns(page_heap.AllocateLarge(kLongest + 1, 1)), kLongest + 1);
  page_heap.SetReleasePolicy({});
}

// As one is that the program has locked.
TEST(PageHeap, APageThatCannotGoBackKeepsNoOtherBack) {
  static constexpr Pages kPages = 1000;
  static const char* stays;
  static const os::MemoryFunctions kAllButOne = {
      os::SystemMemoryFunctions().map, os::SystemMemoryFunctions().unmap, [](void* p, size_t bytes) {
        const bool holds = stays >= p && stays < static_cast<char*>(p) + bytes;
        return !holds && os::SystemMemoryFunctions().release(p, bytes);
      }};
  page_heap.SetReleasePolicy({.interval = 0});
  for (const Pages place : {Pages{0}, kPages / 2 - 1, kPages / 2, kPages - 1}) {
    page_heap.ReleaseDownTo(0);
    Span* const span = page_heap.AllocateLarge(kPages, 1);
    stays = AddressOf(span->page + place);
    page_heap.Free(span);
    os::ReplaceMemoryFunctions(&kAllButOne);
    EXPECT_TRUE(page_heap.ReleaseDownTo(0));
    os::ReplaceMemoryFunctions(nullptr);
    const PageHeap::Totals totals = page_heap.GetTotals();
    EXPECT_EQ(totals.free - totals.returned, 1u) << place;
    EXPECT_TRUE(page_heap.IsValid());
    // Looked at again once it is another span.
    page_heap.Free(page_heap.AllocateLarge(kPages, 1));
  }
  page_heap.SetReleasePolicy({});
}

TEST(PageHeap, FreshPagesAreTakenInExchangeForIdleOnes) {
  page_heap.SetReleasePolicy({.keep = 0, .at_once = SIZE_MAX});
  page_heap.ReleaseDownTo(0);
  const Pages pages = Min(page_heap.GetTotals().system + 64, PageHeap::kLeastMapped / 4 - 1);
  Span* first = page_heap.AllocateLarge(pages, 1);
  const PageId idle = first->page;
  page_heap.Free(first);
  // Not what went back: the longer one may be made of pages that did so before.
  const auto resident = [] {
    const PageHeap::Totals totals = page_heap.GetTotals();
    return totals.free - totals.returned;
  };
  const Pages resident_before = resident();
  // Some ticks of the coarse clock, in which the exchange is earned, however late they come.
  constexpr uint64_t kEarning = 20 * 1000 * 1000;
  for (const uint64_t begun = os::CoarseNanoseconds(); os::CoarseNanoseconds() - begun < kEarning;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // Does not fit into what the first one left, unless the system maps more just behind it.
  Span* longer = page_heap.AllocateLarge(4 * pages, 1);
  if (!longer->Contains(AddressOf(idle))) {
    EXPECT_LT(resident(), resident_before);
  }
  EXPECT_TRUE(page_heap.IsValid());
  page_heap.Free(longer);
  page_heap.SetReleasePolicy({});
}

TEST(PageHeap, WithoutMemoryNothingChanges) {
  static const os::MemoryFunctions kNoMemory = {[](void*, size_t) -> void* { return nullptr; },
                                                os::SystemMemoryFunctions().unmap,
                                                os::SystemMemoryFunctions().release};
  const PageHeap::Totals before = page_heap.GetTotals();
  os::ReplaceMemoryFunctions(&kNoMemory);
  EXPECT_EQ(page_heap.AllocateLarge(before.system + 1, 1), nullptr);
  EXPECT_EQ(page_heap.AllocateLarge(size_t{PTRDIFF_MAX} / kPageBytes, 1), nullptr);
  os::ReplaceMemoryFunctions(nullptr);
  const PageHeap::Totals after = page_heap.GetTotals();
  EXPECT_EQ(before.system, after.system);
  EXPECT_EQ(before.free, after.free);
  EXPECT_TRUE(page_heap.IsValid());
}

TEST(ReleasePace, ExchangesWhatIsMoreThanAShare) {
  constexpr Pages kKeep = kReleaseKeep / kPageBytes;
  constexpr uint64_t kSecond = 1000 * 1000 * 1000;
  ReleasePace pace;
  EXPECT_FALSE(pace.OnFresh(1)) << "few pages are not worth a system call";
  EXPECT_TRUE(pace.OnFresh(99));
  EXPECT_EQ(pace.InExchange(1, 10 * kKeep, 0), 0u) << "a process that has just begun may need what it freed";
  pace.OnFresh(100);
  EXPECT_EQ(pace.InExchange(kSecond, 10 * kKeep, 0), 100u);
  pace.OnFresh(100);
  EXPECT_EQ(pace.InExchange(kSecond, kKeep + 7, 0), 7u);
  pace.OnFresh(100);
  EXPECT_EQ(pace.InExchange(kSecond, 10 * kKeep, 160 * kKeep), 0u) << "a share of a large heap stays";
  pace.OnFresh(100000);
  const Pages rest = pace.InExchange(kSecond, 100000, 0);
  EXPECT_LT(rest, 1000u);
  pace.OnFresh(1000);
  EXPECT_EQ(pace.InExchange(kSecond, 100000, 0), 0u) << "no more than a processor hardly notices";
  pace.OnFresh(1000);
  EXPECT_EQ(pace.InExchange(kSecond + 10 * 1000 * 1000, 100000, 0), 25u);
  pace.SetPolicy({.interval = 0});
  pace.OnFresh(100);
  EXPECT_EQ(pace.InExchange(2 * kSecond, 10 * kKeep, 0), 0u) << "only what asks for it gives memory back";
}

TEST(ReleasePace, ExchangesAtAnyPaceWhileTheHeapGrows) {
  constexpr uint64_t kSecond = 1000 * 1000 * 1000;
  ReleasePace pace;
  pace.OnFresh(100000);
  pace.InExchange(kSecond, 100000, 0);
  pace.OnGrowth(200);
  pace.OnFresh(150);
  EXPECT_EQ(pace.InExchange(kSecond, 100000, 80000), 150u);
  pace.OnFresh(150);
  EXPECT_EQ(pace.InExchange(kSecond, 100000, 80000), 50u) << "no more than it grew by";
  pace.OnFresh(150);
  EXPECT_EQ(pace.InExchange(kSecond, 100000, 80000), 0u);
  pace.OnGrowth(200);
  pace.OnFresh(200);
  EXPECT_EQ(pace.InExchange(kSecond, 10100, 80000), 100u) << "an eighth of the heap stays";
  pace.OnGrowth(5000);
  pace.OnFresh(5000);
  EXPECT_EQ(pace.InExchange(kSecond, 100000, 80000), 256u) << "2 MiB for one growth";
}

TEST(ReleasePace, GivesBackHalfOfWhatNobodyNeeded) {
  constexpr uint64_t kSecond = 1000 * 1000 * 1000;
  ReleasePace pace;
  uint64_t now = kSecond;
  EXPECT_EQ(pace.Due(now, 10000), 0u) << "nothing is known of the first interval";
  Pages resident = 10000;
  Pages before = resident;
  for (int interval = 0; interval < 100; ++interval) {
    EXPECT_EQ(pace.Due(now + 1, resident), 0u) << "within an interval nothing is due";
    now += kSecond;
    const Pages due = pace.Due(now, resident);
    EXPECT_LE(due, Max<Pages>(before / 2 + 1, 2048));
    resident -= due;
    before = resident;
  }
  EXPECT_LE(resident, 1024 * 1024 / kPageBytes);
  pace.OnAllocate(1, 0);
  now += kSecond;
  EXPECT_EQ(pace.Due(now, 10000), 0u) << "all of it was needed once in the interval";
}

}  // namespace
}  // namespace mallow::heap
