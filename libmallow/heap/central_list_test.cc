#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "heap/heap_checks.h"
#include "heap/page_map.h"
#include "heap/shared_lists.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

TEST(CentralList, CarvesSpansInAddressOrder) {
  const SizeClass c = SizeClassOf(64);
  void* slots[40];
  ASSERT_EQ(shared_lists[c].central.Fetch(c, slots, 40), 40u);
  for (int i = 1; i < 40; ++i) EXPECT_EQ(static_cast<char*>(slots[i - 1]) - static_cast<char*>(slots[i]), 64);
  shared_lists[c].central.Release(slots, 40);
  EXPECT_EQ(shared_lists[c].central.free_objects(), 0u)
      << "a span that is wholly free goes back to the page heap";
}

TEST(CentralList, GivesWholeCacheLinesOnRequest) {
  for (const size_t bytes : {16u, 32u, 48u, 80u, 96u, 112u}) {
    const SizeClass c = SizeClassOf(bytes);
    const size_t in_lines = LineObjects(bytes);
    ASSERT_EQ(in_lines * bytes % 64, 0u);
    void* all[64];
    ASSERT_EQ(shared_lists[c].central.Fetch(c, all, 64), 64u);
    char* const start = static_cast<char*>(all[63]);
    // One is missing of the first lines, none of the next.
    std::vector<void*> back;
    for (size_t i = 1; i < 2 * in_lines; ++i) back.push_back(start + i * bytes);
    shared_lists[c].central.Release(back.data(), back.size());
    void* got[64];
    ASSERT_EQ(shared_lists[c].central.FetchWholeLines(got, in_lines), in_lines);
    for (size_t i = 0; i < in_lines; ++i) EXPECT_EQ(got[i], start + (2 * in_lines - 1 - i) * bytes);
    EXPECT_TRUE(shared_lists[c].central.IsValid(c));
    shared_lists[c].central.Release(got, in_lines);
    shared_lists[c].central.Release(&all[63], 1);
    shared_lists[c].central.Release(all, 64 - 2 * in_lines);
    EXPECT_EQ(shared_lists[c].central.free_objects(), 0u);
    EXPECT_EQ(shared_lists[c].central.FetchWholeLines(got, 1), 0u) << "nothing at hand";
  }
}

TEST(CentralListDeathTest, TakesRunsOfNeighboursBack) {
  const SizeClass c = SizeClassOf(48);
  const size_t objects = Info(c).objects;
  std::vector<void*> all(objects);
  ASSERT_EQ(shared_lists[c].central.Fetch(c, all.data(), objects), objects);
  std::reverse(all.begin(), all.end());  // rising addresses
  // Runs that begin and end anywhere in a word, fill one, and cross several.
  size_t put = 0;
  for (const size_t run : {1u, 62u, 1u, 64u, 65u, 3u, 190u}) {
    shared_lists[c].central.Release(&all[put], run);
    put += run;
    EXPECT_EQ(shared_lists[c].central.free_objects(), put);
    EXPECT_TRUE(shared_lists[c].central.IsValid(c));
  }
  void* twice[] = {all[put], all[put - 1]};
  EXPECT_DEATH(shared_lists[c].central.Release(twice, 2), "mallow: free\\(\\): the block was freed twice");
  void* in_a_run[] = {all[put + 1], all[put + 2], all[0], all[1]};
  EXPECT_DEATH(shared_lists[c].central.Release(in_a_run, 4), "mallow: free\\(\\): the block was freed twice");
  shared_lists[c].central.Release(&all[put], objects - put);
  EXPECT_EQ(shared_lists[c].central.free_objects(), 0u);
}

TEST(CentralList, TakesRunsBackThatBreakAnywhere) {
  const SizeClass c = SizeClassOf(48);
  const size_t objects = Info(c).objects;
  for (size_t away = 0; away < 40; ++away) {
    std::vector<void*> all(objects);
    ASSERT_EQ(shared_lists[c].central.Fetch(c, all.data(), objects), objects);
    std::reverse(all.begin(), all.end());  // rising addresses
    // One of a run stands behind it: in its place is the next one, or one that lies elsewhere.
    std::vector<void*> moved = all, swapped = all;
    std::rotate(moved.begin() + away, moved.begin() + away + 1, moved.begin() + 40);
    std::swap(swapped[away], swapped[45]);
    for (std::vector<void*>* order : {&moved, &swapped}) {
      shared_lists[c].central.Release(order->data(), 50);
      EXPECT_EQ(shared_lists[c].central.free_objects(), 50u);
      EXPECT_TRUE(shared_lists[c].central.IsValid(c));
      ASSERT_EQ(shared_lists[c].central.Fetch(c, order->data(), 50), 50u);
      EXPECT_EQ(std::set<void*>(order->begin(), order->begin() + 50),
                std::set<void*>(all.begin(), all.begin() + 50));
    }
    shared_lists[c].central.Release(all.data(), objects);
    EXPECT_EQ(shared_lists[c].central.free_objects(), 0u);
  }
}

TEST(CentralList, AgreesWithAModel) {
  std::mt19937_64 random(1);
  const SizeClass classes[] = {1, 5, 20, 40, 60, 80, kClassCount - 1};
  for (SizeClass c : classes) {
    std::set<void*> out;
    void* batch[64];
    for (int step = 0; step < 3000; ++step) {
      const size_t wish = 1 + random() % 64;
      if (random() % 2 == 0 && out.size() < 4000) {
        const size_t got = shared_lists[c].central.Fetch(c, batch, wish);
        ASSERT_GE(got, 1u);
        ASSERT_LE(got, wish);
        for (size_t i = wish - got; i < wish; ++i) {
          ASSERT_EQ(PageMap::ClassOf(batch[i]), c);
          ASSERT_TRUE(out.insert(batch[i]).second) << "handed out twice";
        }
      } else {
        size_t count = 0;
        while (count < wish && !out.empty()) {
          auto object = out.lower_bound(*std::next(out.begin(), static_cast<long>(random() % out.size())));
          batch[count++] = *object;
          out.erase(object);
        }
        shared_lists[c].central.Release(batch, count);
      }
      if (step % 64 == 0) {
        ASSERT_TRUE(shared_lists[c].central.IsValid(c));
      }
    }
    for (void* object : out) shared_lists[c].central.Release(&object, 1);
    EXPECT_TRUE(shared_lists[c].central.IsValid(c));
    EXPECT_EQ(shared_lists[c].central.free_objects(), 0u);
  }
  Trim(0);
  ExpectEmptyHeap();
}

TEST(CentralList, GivesBackPagesInWhichAllIsFree) {
  const SizeClass c = SizeClassOf(1024);
  const size_t objects = Info(c).objects, page_bytes = os::PageSize(), in_page = page_bytes / 1024;
  ASSERT_GE(objects, 2 * in_page + 1);
  std::vector<void*> all(objects);
  ASSERT_EQ(shared_lists[c].central.Fetch(c, all.data(), objects), objects);
  std::reverse(all.begin(), all.end());
  for (void* object : all) memset(object, 0xab, 1024);
  const auto byte_of = [&all](size_t object) { return static_cast<const unsigned char*>(all[object])[1023]; };
  // The first one stays, and with it its page.
  shared_lists[c].central.Release(&all[1], objects - 1);
  shared_lists[c].central.GiveBackUnused();
  EXPECT_EQ(byte_of(objects - 1), 0xab) << "some were fetched since the last call";
  shared_lists[c].central.GiveBackUnused();
  for (size_t i = 0; i < in_page; ++i) EXPECT_EQ(byte_of(i), 0xab);
  for (size_t i = in_page; i < objects; ++i) EXPECT_EQ(byte_of(i), 0);
  EXPECT_TRUE(shared_lists[c].central.IsValid(c));
  // They can be had as before.
  std::vector<void*> again(objects - 1);
  ASSERT_EQ(shared_lists[c].central.Fetch(c, again.data(), objects - 1), objects - 1);
  EXPECT_EQ(again.back(), all[1]);
  again.push_back(all[0]);
  shared_lists[c].central.Release(again.data(), objects);
  EXPECT_EQ(shared_lists[c].central.free_objects(), 0u);
}

TEST(CentralListDeathTest, SeesASecondFreeAndAnInteriorPointer) {
  const SizeClass c = SizeClassOf(48);
  void* objects[2];
  ASSERT_EQ(shared_lists[c].central.Fetch(c, objects, 2), 2u);
  EXPECT_DEATH(
      {
        shared_lists[c].central.Release(objects, 1);
        shared_lists[c].central.Release(objects, 1);
      },
      "mallow: free\\(\\): the block was freed twice \\(0x[0-9a-f]+\\)");
  void* inside = static_cast<char*>(objects[0]) + 16;
  EXPECT_DEATH(shared_lists[c].central.Release(&inside, 1),
               "mallow: free\\(\\): the pointer is inside a block");
  shared_lists[c].central.Release(objects, 2);
}

}  // namespace
}  // namespace mallow::heap
