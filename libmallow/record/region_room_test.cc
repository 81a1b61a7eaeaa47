// More regions and units than there is room for. In a process of its own, because a process is recorded once and the room
// of its recording is then used up.
#include <gtest/gtest.h>

#include <string>

#include "record/process.h"
#include "record/recorded_test.h"
#include "record/recorder.h"
#include "record/region.h"

namespace mallow::record {
namespace {

using RegionRoomTest = RecordedProcessTest;

TEST_F(RegionRoomTest, TooManyUnits) {
  const uint64_t lost = g_process.header().lost_marks;
  for (int i = 0; i < 300; ++i) CountUnit(("unit " + std::to_string(i)).c_str(), 1);
  EXPECT_TRUE(g_process.header().incomplete & kUnitsFull);
  EXPECT_GT(g_process.header().lost_marks, lost);
  EXPECT_EQ(g_process.file().Used(Section::kUnits), 256u);
}

TEST_F(RegionRoomTest, TooManyRegions) {
  BeginRegion("around");
  const RegionId around = innermost();
  for (int i = 0; i < 5000; ++i) {
    BeginRegion(("one of many " + std::to_string(i)).c_str());
    EndRegion();
    EXPECT_EQ(innermost(), around);
  }
  EXPECT_TRUE(g_process.header().incomplete & kRegionsFull);
  EXPECT_EQ(g_process.regions().count(), 4096u);
}

}  // namespace
}  // namespace mallow::record
