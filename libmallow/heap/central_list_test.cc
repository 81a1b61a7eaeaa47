#include "heap/central_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "heap/heap_checks.h"
#include "heap/page_map.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

TEST(CentralList, CarvesSpansInAddressOrder) {
  const SizeClass c = SizeClassOf(64);
  void* slots[40];
  ASSERT_EQ(central_lists[c].Fetch(c, slots, 40), 40u);
  for (int i = 1; i < 40; ++i) EXPECT_EQ(static_cast<char*>(slots[i - 1]) - static_cast<char*>(slots[i]), 64);
  central_lists[c].Release(slots, 40);
  EXPECT_EQ(central_lists[c].free_objects(), 0u) << "a span that is wholly free goes back to the page heap";
}

TEST(CentralList, GivesWholeCacheLinesOnRequest) {
  for (const size_t bytes : {16u, 32u, 48u, 80u, 96u, 112u}) {
    const SizeClass c = SizeClassOf(bytes);
    const size_t in_lines = LineObjects(bytes);
    ASSERT_EQ(in_lines * bytes % 64, 0u);
    void* all[64];
    ASSERT_EQ(central_lists[c].Fetch(c, all, 64), 64u);
    char* const start = static_cast<char*>(all[63]);
    // One is missing of the first lines, none of the next.
    std::vector<void*> back;
    for (size_t i = 1; i < 2 * in_lines; ++i) back.push_back(start + i * bytes);
    central_lists[c].Release(back.data(), back.size());
    void* got[64];
    ASSERT_EQ(central_lists[c].FetchWholeLines(got, in_lines), in_lines);
    for (size_t i = 0; i < in_lines; ++i) EXPECT_EQ(got[i], start + (2 * in_lines - 1 - i) * bytes);
    EXPECT_TRUE(central_lists[c].IsValid(c));
    central_lists[c].Release(got, in_lines);
    central_lists[c].Release(&all[63], 1);
    central_lists[c].Release(all, 64 - 2 * in_lines);
    EXPECT_EQ(central_lists[c].free_objects(), 0u);
    EXPECT_EQ(central_lists[c].FetchWholeLines(got, 1), 0u) << "nothing at hand";
  }
}

TEST(CentralListDeathTest, TakesRunsOfNeighboursBack) {
  const SizeClass c = SizeClassOf(48);
  const size_t objects = Info(c).objects;
  std::vector<void*> all(objects);
  ASSERT_EQ(central_lists[c].Fetch(c, all.data(), objects), objects);
  std::reverse(all.begin(), all.end());  // rising addresses
  // Runs that begin and end anywhere in a word, fill one, and cross several.
  size_t put = 0;
  for (const size_t run : {1u, 62u, 1u, 64u, 65u, 3u, 190u}) {
    central_lists[c].Release(&all[put], run);
    put += run;
    EXPECT_EQ(central_lists[c].free_objects(), put);
    EXPECT_TRUE(central_lists[c].IsValid(c));
  }
  void* twice[] = {all[put], all[put - 1]};
  EXPECT_DEATH(central_lists[c].Release(twice, 2), "mallow: free\\(\\): the block was freed twice");
  void* in_a_run[] = {all[put + 1], all[put + 2], all[0], all[1]};
  EXPECT_DEATH(central_lists[c].Release(in_a_run, 4), "mallow: free\\(\\): the block was freed twice");
  central_lists[c].Release(&all[put], objects - put);
  EXPECT_EQ(central_lists[c].free_objects(), 0u);
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
        const size_t got = central_lists[c].Fetch(c, batch, wish);
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
        central_lists[c].Release(batch, count);
      }
      if (step % 64 == 0) {
        ASSERT_TRUE(central_lists[c].IsValid(c));
      }
    }
    for (void* object : out) central_lists[c].Release(&object, 1);
    EXPECT_TRUE(central_lists[c].IsValid(c));
    EXPECT_EQ(central_lists[c].free_objects(), 0u);
  }
  Trim(0);
  ExpectEmptyHeap();
}

TEST(CentralList, GivesBackPagesInWhichAllIsFree) {
  const SizeClass c = SizeClassOf(1024);
  const size_t objects = Info(c).objects, page_bytes = os::PageSize(), in_page = page_bytes / 1024;
  ASSERT_GE(objects, 2 * in_page + 1);
  std::vector<void*> all(objects);
  ASSERT_EQ(central_lists[c].Fetch(c, all.data(), objects), objects);
  std::reverse(all.begin(), all.end());
  for (void* object : all) memset(object, 0xab, 1024);
  const auto byte_of = [&all](size_t object) { return static_cast<const unsigned char*>(all[object])[1023]; };
  // The first one stays, and with it its page.
  central_lists[c].Release(&all[1], objects - 1);
  central_lists[c].GiveBackUnused();
  EXPECT_EQ(byte_of(objects - 1), 0xab) << "some were fetched since the last call";
  central_lists[c].GiveBackUnused();
  for (size_t i = 0; i < in_page; ++i) EXPECT_EQ(byte_of(i), 0xab);
  for (size_t i = in_page; i < objects; ++i) EXPECT_EQ(byte_of(i), 0);
  EXPECT_TRUE(central_lists[c].IsValid(c));
  // They can be had as before.
  std::vector<void*> again(objects - 1);
  ASSERT_EQ(central_lists[c].Fetch(c, again.data(), objects - 1), objects - 1);
  EXPECT_EQ(again.back(), all[1]);
  again.push_back(all[0]);
  central_lists[c].Release(again.data(), objects);
  EXPECT_EQ(central_lists[c].free_objects(), 0u);
}

TEST(CentralListDeathTest, SeesASecondFreeAndAnInteriorPointer) {
  const SizeClass c = SizeClassOf(48);
  void* objects[2];
  ASSERT_EQ(central_lists[c].Fetch(c, objects, 2), 2u);
  EXPECT_DEATH(
      {
        central_lists[c].Release(objects, 1);
        central_lists[c].Release(objects, 1);
      },
      "mallow: free\\(\\): the block was freed twice \\(0x[0-9a-f]+\\)");
  void* inside = static_cast<char*>(objects[0]) + 16;
  EXPECT_DEATH(central_lists[c].Release(&inside, 1), "mallow: free\\(\\): the pointer is inside a block");
  central_lists[c].Release(objects, 2);
}

}  // namespace
}  // namespace mallow::heap
