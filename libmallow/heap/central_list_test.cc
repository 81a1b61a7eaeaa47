#include "heap/central_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "heap/heap_checks.h"
#include "heap/page_map.h"

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
