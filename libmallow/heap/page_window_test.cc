#include "heap/page_window.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "heap/record_map.h"

namespace mallow::heap {
namespace {

constexpr PageId kFirst = PageId{0x123456};

TEST(PageWindow, IsEmptyUntilItIsOpened) {
  internal::RecordWindow window;
  for (const void* p : {static_cast<const void*>(nullptr), static_cast<const void*>(AddressOf(kFirst)),
                        reinterpret_cast<const void*>(UINTPTR_MAX)}) {
    EXPECT_EQ(window.Of(p), 0u);
    EXPECT_FALSE(window.KnowsOf(p));
  }
  window.Set(kFirst, 1);
  EXPECT_EQ(window.Of(AddressOf(kFirst)), 0u);
  EXPECT_EQ(window.MetadataBytes(), 0u);
  window.Open(kFirst, 1);
  EXPECT_EQ(window.Of(AddressOf(kFirst)), 0u);
  EXPECT_FALSE(window.KnowsOf(AddressOf(kFirst))) << "what was set before it was made is not there";
}

TEST(PageWindow, KnowsWhatItLacks) {
  internal::RecordWindow window;
  window.Open(kFirst, 1);
  window.Set(kFirst, 1);
  const PageId closed = kFirst + internal::kRecordWindowPages / 8;
  window.Set(closed, 0);
  EXPECT_TRUE(window.KnowsOf(AddressOf(kFirst)));
  EXPECT_TRUE(window.KnowsOf(AddressOf(closed)));
  window.Set(closed, 1);
  EXPECT_EQ(window.Of(AddressOf(closed)), 0u);
  EXPECT_FALSE(window.KnowsOf(AddressOf(closed)));
}

TEST(PageWindow, AgreesWithAModel) {
  internal::RecordWindow window;
  std::map<PageId, uint64_t> model;
  std::mt19937_64 random(1);
  for (int step = 0; step < 5000; ++step) {
    const PageId page = kFirst + random() % 100000;
    const Pages pages = 1 + random() % 5;
    window.Open(page, pages);
    for (Pages i = 0; i < pages; ++i) {
      const uint64_t item = random() % 3 == 0 ? 0 : random();
      window.Set(page + i, item);
      model[page + i] = item;
    }
  }
  for (PageId page = kFirst; page < kFirst + 100005; ++page) {
    const auto known = model.find(page);
    ASSERT_EQ(window.Of(AddressOf(page) + page % kPageBytes), known == model.end() ? 0 : known->second);
    ASSERT_TRUE(window.KnowsOf(AddressOf(page)));
  }
  EXPECT_EQ(window.MetadataBytes(), internal::RecordWindow::kBytes);
  EXPECT_GT(window.ResidentBytes(), 0u);
  EXPECT_LE(window.ResidentBytes(), size_t{1} << 20);
}

TEST(PageWindow, WhatLiesOutsideHasNone) {
  internal::RecordWindow window;
  const PageId first = PageId{1} << 30;
  window.Open(first, 1);
  window.Set(first, 7);
  for (const PageId page :
       {first - internal::kRecordWindowPages, first + internal::kRecordWindowPages, PageId{0}}) {
    window.Open(page, 1);
    window.Set(page, 1);
    EXPECT_EQ(window.Of(AddressOf(page)), 0u);
    EXPECT_FALSE(window.KnowsOf(AddressOf(page)));
  }
  EXPECT_EQ(window.Of(AddressOf(first)), 7u);
  EXPECT_TRUE(window.KnowsOf(AddressOf(first)));
}

}  // namespace
}  // namespace mallow::heap
