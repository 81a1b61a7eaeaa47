#include "record/loaded_object.h"

#include <link.h>
#include <stdlib.h>

#include "gtest/gtest.h"

namespace mallow::record {
namespace {

uintptr_t AddressOf(void (*function)()) { return reinterpret_cast<uintptr_t>(function); }

TEST(LoadedObject, IsTheOneOfTheLoader) {
  for (const uintptr_t address : {AddressOf([] {}), AddressOf(abort)}) {
    dl_find_object found, expected;
    ASSERT_TRUE(FindLoadedObject(address, &found));
    ASSERT_EQ(0, _dl_find_object(reinterpret_cast<void*>(address), &expected));
    EXPECT_EQ(expected.dlfo_map_start, found.dlfo_map_start);
    EXPECT_EQ(expected.dlfo_map_end, found.dlfo_map_end);
    EXPECT_EQ(expected.dlfo_link_map, found.dlfo_link_map);
    EXPECT_EQ(expected.dlfo_eh_frame, found.dlfo_eh_frame);
  }
}

TEST(LoadedObject, IsNoneOutsideOfAll) {
  int local;
  dl_find_object found;
  EXPECT_FALSE(FindLoadedObject(reinterpret_cast<uintptr_t>(&local), &found));
  EXPECT_FALSE(FindLoadedObject(0, &found));
}

}  // namespace
}  // namespace mallow::record
