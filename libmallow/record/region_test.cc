#include "record/region.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "record/mapped_file.h"
#include "record/no_memory.h"
#include "record/process.h"
#include "record/recorded_test.h"
#include "record/recorder.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

class RegionTest : public RecordedProcessTest {
 protected:
  static ThreadRecorder& thread() { return *g_process.Current(); }
  static RegionFigures& figures(RegionId region) { return *thread().FiguresOf(region); }
  static std::string Name(RegionId region) {
    const RegionItem& item = g_process.file().Items<RegionItem>(Section::kRegions)[region - 1];
    return std::string(item.name, item.name_bytes);
  }
};

TEST_F(RegionTest, APathHasOneNumber) {
  EXPECT_EQ(BeginRegion("outer"), 0u);
  const RegionId outer = innermost();
  EXPECT_EQ(BeginRegion("inner"), 1u);
  const RegionId inner = innermost();
  EXPECT_NE(outer, kNoRegion);
  EXPECT_NE(inner, outer);
  EXPECT_EQ(Name(outer), "outer");
  EXPECT_EQ(Name(inner), "inner");
  EndRegion();
  EXPECT_EQ(innermost(), outer);
  EndRegion();
  EXPECT_EQ(innermost(), kNoRegion);
  EndRegion();  // in none: nothing
  BeginRegion("inner");
  EXPECT_NE(innermost(), inner) << "it is within no other one now";
  EndRegion();
  BeginRegion("outer");
  BeginRegion("inner");
  EXPECT_EQ(innermost(), inner);
}

TEST_F(RegionTest, TheNameIsComparedAndNotItsAddress) {
  char name[] = "first";
  BeginRegion(name);
  const RegionId first = innermost();
  EndRegion();
  strcpy(name, "other");
  BeginRegion(name);
  EXPECT_NE(innermost(), first);
  EXPECT_EQ(Name(innermost()), "other");
}

TEST_F(RegionTest, OneWithinItselfStaysWhereItIs) {
  BeginRegion("walk");
  const RegionId walk = innermost();
  BeginRegion("leaf");
  const RegionId leaf = innermost();
  BeginRegion("walk");
  EXPECT_EQ(innermost(), leaf);
  BeginRegion("leaf");
  EXPECT_EQ(innermost(), leaf);
  EXPECT_EQ(figures(walk).entries, 2u);
  EXPECT_EQ(figures(leaf).entries, 2u);
  EndRegion();
  EndRegion();
  EXPECT_EQ(innermost(), leaf);
  EndRegion();
  EXPECT_EQ(innermost(), walk);
}

TEST_F(RegionTest, ItMayBeWithinItselfAnyNumberOfTimes) {
  g_process.header().incomplete = 0;
  for (int i = 0; i < 1000; ++i) BeginRegion("recursion");
  EXPECT_EQ(figures(innermost()).entries, 1000u);
  EXPECT_EQ(g_process.header().incomplete, 0u);
  for (int i = 0; i < 999; ++i) EndRegion();
  EXPECT_EQ(Name(innermost()), "recursion");
  EndRegion();
  EXPECT_EQ(innermost(), kNoRegion);
}

TEST_F(RegionTest, FiguresAreDifferencesOfTheThreads) {
  Shard& shard = *thread().shard;
  shard.frees = 100;
  shard.live_bytes = 1000;
  BeginRegion("differences");
  RegionFigures& of = figures(innermost());
  EXPECT_EQ(of.open, 1u);
  shard.frees += 7;
  shard.live_bytes -= 300;
  EXPECT_EQ(of.frees, 0) << "a reader adds what the present stretch has done";
  EXPECT_EQ(of.frees_at_entry, 100);
  EndRegion();
  EXPECT_EQ(of.open, 0u);
  EXPECT_EQ(of.frees, 7);
  EXPECT_EQ(of.live_bytes, -300);
  shard.frees += 50;  // outside
  BeginRegion("differences");
  shard.frees += 1;
  EndRegion();
  EXPECT_EQ(of.frees, 8);
  EXPECT_EQ(of.entries, 2u);
}

TEST_F(RegionTest, ReturningEndsWhatIsInside) {
  BeginRegion("a");
  const RegionId a = innermost();
  const uint32_t depth = BeginRegion("b");
  const RegionId b = innermost();
  BeginRegion("c");
  BeginRegion("c");
  EndRegionsTo(depth);
  EXPECT_EQ(innermost(), a);
  EXPECT_EQ(figures(b).open, 0u);
  EXPECT_EQ(figures(a).open, 1u);
  EndRegionsTo(5);
  EXPECT_EQ(innermost(), a) << "it is in fewer";
}

TEST_F(RegionTest, TooManyWithinEachOther) {
  for (int i = 0; i < 100; ++i) BeginRegion(("level " + std::to_string(i)).c_str());
  EXPECT_EQ(thread().regions.depth(), 100u);
  EXPECT_EQ(Name(innermost()), "level 63");
  EXPECT_TRUE(g_process.header().incomplete & kRegionsFull);
  for (int i = 0; i < 36; ++i) EndRegion();
  EXPECT_EQ(Name(innermost()), "level 63");
  EndRegion();
  EXPECT_EQ(Name(innermost()), "level 62");
}

TEST_F(RegionTest, LongNamesAreCut) {
  const std::string name(500, 'x');
  BeginRegion(name.c_str());
  EXPECT_EQ(Name(innermost()), name.substr(0, 120));
  const RegionId region = innermost();
  EndRegion();
  BeginRegion((name.substr(0, 120) + "y").c_str());
  EXPECT_EQ(innermost(), region);
  CountUnit(name.c_str(), 1);
  EXPECT_EQ(g_process.units().Find(name.c_str(), UnitSource::kProgram)->name_bytes, 224u);
}

TEST_F(RegionTest, AThreadEndsItsRegions) {
  RegionId region = kNoRegion;
  const RegionFigures* figures = nullptr;
  std::thread([&] {
    BeginRegion("thread");
    region = innermost();
    figures = thread().FiguresOf(region);
  }).join();
  EXPECT_EQ(figures->open, 0u);
  EXPECT_EQ(figures->entries, 1u);
  std::thread([&] { EXPECT_EQ(innermost(), kNoRegion) << "of a thread that was given the shard"; }).join();
}

TEST_F(RegionTest, ThreadsFindTheSameRegionsAndUnits) {
  constexpr int kThreads = 4, kNames = 200, kTimes = 50;
  std::vector<std::vector<RegionId>> found(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&found, i] {
      for (int time = 0; time < kTimes; ++time) {
        for (int n = 0; n < kNames; ++n) {
          const std::string name = "shared " + std::to_string(n);
          BeginRegion(name.c_str());
          if (time == 0) found[i].push_back(innermost());
          EXPECT_EQ(innermost(), found[i][n]);
          EndRegion();
          CountUnit(name.c_str(), 3);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 1; i < kThreads; ++i) EXPECT_EQ(found[i], found[0]);
  for (int n = 0; n < kNames; ++n) {
    const UnitItem* unit =
        g_process.units().Find(("shared " + std::to_string(n)).c_str(), UnitSource::kProgram);
    ASSERT_NE(unit, nullptr);
    EXPECT_EQ(unit->amount, uint64_t{3} * kThreads * kTimes);
    EXPECT_EQ(unit->calls, uint64_t{1} * kThreads * kTimes);
  }
}

TEST(RegionTableTest, SaysThatThereIsNoMemoryForRegions) {
  const TestFolder folder;
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  RegionTable table;
  table.StartIn(&file);
  {
    const NoMemory none;
    EXPECT_EQ(kNoRegion, table.Enter(kNoRegion, "one").named);
  }
  EXPECT_EQ(kRegionsFull, file.header()->incomplete);
  EXPECT_NE(kNoRegion, table.Enter(kNoRegion, "one").named);
}

}  // namespace
}  // namespace mallow::record
