#include "record/timeline.h"

#include <gtest/gtest.h>

#include "record/counting.h"
#include "record/process.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

TEST(ChangesTest, GreatestFirst) {
  Changes changes = {};
  changes.Add(1, 10);
  changes.Add(2, -500);
  changes.Add(3, 300);
  changes.Add(3, -100);
  changes.Add(4, 0);
  changes.Add(5, int64_t{1} << 40);
  TimelineSample::Change greatest[4];
  changes.Report(greatest);
  const TimelineSample::Change expected[4] = {{5, INT32_MAX}, {2, -500}, {3, 200}, {1, 10}};
  for (int i = 0; i < 4; i++) {
    EXPECT_EQ(expected[i].stack, greatest[i].stack) << i;
    EXPECT_EQ(expected[i].bytes, greatest[i].bytes) << i;
  }
}

// A stack that comes often is not driven out by many that come once.
TEST(ChangesTest, TheGreatStaysAmongMany) {
  Changes changes = {};
  for (uint32_t i = 0; i < 1000; i++) {
    changes.Add(1, 64);
    changes.Add(100 + i, 32);
  }
  TimelineSample::Change greatest[4];
  changes.Report(greatest);
  EXPECT_EQ(1u, greatest[0].stack);
  EXPECT_EQ(64'000, greatest[0].bytes);
}

// What grows, and moves more bytes than each of many others, is soon seen, though all of them together move far more.
TEST(ChangesTest, WhatGrowsIsSeenAmongMany) {
  constexpr uint32_t kOthers = 20, kRounds = 1000;
  constexpr int64_t kBytes = 64;
  Changes changes = {};
  for (uint32_t round = 0; round < kRounds; round++) {
    for (uint32_t other = 0; other < kOthers; other++) {
      changes.Add(100 + other, kBytes);
      changes.Add(1, kBytes / 4);
      changes.Add(100 + other, -kBytes);
    }
  }
  TimelineSample::Change greatest[4];
  changes.Report(greatest);
  EXPECT_EQ(1u, greatest[0].stack);
  EXPECT_GT(greatest[0].bytes, kRounds * kOthers * kBytes / 4 / 2);
}

// A great change is seen whatever came before.
TEST(ChangesTest, TheGreatestHasItsPlaceAtOnce) {
  Changes changes = {};
  for (uint32_t i = 0; i < 1000; i++) changes.Add(100 + i % 50, i % 2 == 0 ? 64 : -64);
  changes.Add(1, 1'000'000);
  TimelineSample::Change greatest[4];
  changes.Report(greatest);
  EXPECT_EQ(1u, greatest[0].stack);
  EXPECT_EQ(1'000'000, greatest[0].bytes);
}

TEST(TimelineTest, HalvesWhenFullAndStaysInOrder) {
  TestFolder folder;
  ASSERT_TRUE(g_process.Start(folder.path(), 0));
  ThreadRecorder& thread = *g_process.Current();
  const NodeId node = g_process.stacks().Child(kRoot, 0x400000, 0);
  const StackId stack = g_process.stacks().AddStack(node, Function::kMalloc, false);
  const Header& header = g_process.header();
  constexpr uint64_t kPairs = 400'000;
  for (uint64_t i = 0; i < kPairs; i++) {
    const Tag tag = Counting(thread).Birth(stack, 16, 16);
    Counting(thread).Death(tag, nullptr, Counting::Release::kFree, 0x500000);
  }
  ASSERT_GT(header.timeline_used, kTimelineSamples / 2);
  ASSERT_LE(header.timeline_used, kTimelineSamples);
  EXPECT_GE(header.timeline_events, 1024u);
  // Fewer than there could be: of a stack with so many calls one in 128 looks at the clock.
  EXPECT_LE(header.timeline_used, 2 * kPairs / header.timeline_events + 80);

  const MappedFile& file = g_process.file();
  const auto* directory = file.Items<PageDirectoryEntry>(Section::kPageDirectory);
  uint64_t births = 0, samples = 0;
  for (uint64_t page = 0; page < file.Used(Section::kCounterPages); page++) {
    if (directory[page].shard_and_kind >> 24 != static_cast<uint32_t>(CounterKind::kTimeline)) continue;
    if (samples == header.timeline_used) break;
    ASSERT_EQ(samples / kCountersPerPage, directory[page].first_stack_by_64);
    const auto* of_page = reinterpret_cast<const TimelineSample*>(file.Items<char>(Section::kCounterPages) +
                                                                  page * kCounterPageBytes);
    for (size_t i = 0; i < kCountersPerPage && samples < header.timeline_used; i++, samples++) {
      ASSERT_GT(of_page[i].births, births) << samples;
      births = of_page[i].births;
      ASSERT_LE(of_page[i].live_blocks, 1);
    }
  }
  EXPECT_EQ(header.timeline_used, samples);
  EXPECT_NEAR(kPairs, births, header.timeline_events);
}

}  // namespace
}  // namespace mallow::record
