#include "record/cpu_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "record/mapped_file.h"
#include "record/no_memory.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

class CpuTableTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file_.Create(folder_.path()));
    ASSERT_TRUE(table_.StartIn(&file_));
  }
  const CpuSample& Item(uint64_t i) const { return file_.Items<CpuSample>(Section::kCpuSamples)[i]; }
  // The items after those that are always there.
  const CpuSample& New(uint64_t i) const { return Item(kAlways + i); }
  static constexpr uint64_t kAlways = 3;
  uint64_t count() const { return file_.Used(Section::kCpuSamples); }

  TestFolder folder_;
  MappedFile file_;
  CpuTable table_;
};

TEST_F(CpuTableTest, AddsUpByNodeAndPart) {
  table_.Add(7, CpuPart::kProgram, 100, 1);
  table_.Add(7, CpuPart::kRecorder, 10, 1);
  table_.Add(7, CpuPart::kProgram, 50, 2);
  ASSERT_EQ(count(), kAlways + 2);
  EXPECT_EQ(Item(0).part, static_cast<uint32_t>(CpuPart::kNoRoom));
  EXPECT_EQ(Item(0).samples, 0u);
  EXPECT_EQ(New(0).node, 7u);
  EXPECT_EQ(New(0).nanoseconds, 150u);
  EXPECT_EQ(New(0).samples, 3u);
  EXPECT_EQ(New(1).part, static_cast<uint32_t>(CpuPart::kRecorder));
  EXPECT_EQ(New(1).nanoseconds, 10u);
}

// What a sample within a lock of the recorder needs: the lock of the file may be held.
TEST_F(CpuTableTest, OwnTimeNeedsNoLockOfTheFile) {
  const HandlerRanks ranks;
  SpinlockHolder holder(file_.grow_lock());
  const HandlerRanks within;
  table_.Add(kRoot, CpuPart::kRecorder, 5, 1);
  table_.Add(kRoot, CpuPart::kSampler, 6, 0);
  EXPECT_EQ(count(), kAlways);
  EXPECT_EQ(Item(1).nanoseconds, 5u);
  EXPECT_EQ(Item(2).nanoseconds, 6u);
}

// Nor that of the table, which another thread may have while it waits for that of the file.
TEST_F(CpuTableTest, OwnTimeWaitsForNobody) {
  std::thread other;
  {
    const HandlerRanks ranks;
    SpinlockHolder holder(file_.grow_lock());
    const HandlerRanks within;
    other = std::thread([this] {
      for (uint32_t node = 1; node <= 5000; ++node) table_.Add(node, CpuPart::kProgram, 1, 1);
    });
    usleep(20000);
    table_.Add(kRoot, CpuPart::kRecorder, 5, 1);
    table_.Add(kRoot, CpuPart::kSampler, 6, 0);
  }
  other.join();
  EXPECT_EQ(Item(1).nanoseconds, 5u);
  EXPECT_EQ(Item(2).nanoseconds, 6u);
}

TEST_F(CpuTableTest, GrowsFromManyThreads) {
  constexpr uint32_t kNodes = 5000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (uint32_t node = 1; node <= kNodes; ++node) table_.Add(node, CpuPart::kProgram, node, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(count(), kAlways + kNodes);
  for (uint32_t i = 0; i < kNodes; ++i) {
    EXPECT_EQ(New(i).samples, 4u);
    EXPECT_EQ(New(i).nanoseconds, 4u * New(i).node);
  }
}

TEST_F(CpuTableTest, StartsAnewInAnotherFile) {
  table_.Add(7, CpuPart::kProgram, 100, 1);
  MappedFile child;
  ASSERT_TRUE(child.Create(folder_.path()));
  ASSERT_TRUE(table_.StartIn(&child));
  table_.Add(7, CpuPart::kProgram, 5, 1);
  EXPECT_EQ(child.Items<CpuSample>(Section::kCpuSamples)[kAlways].nanoseconds, 5u);
  EXPECT_EQ(New(0).nanoseconds, 100u);
}

TEST_F(CpuTableTest, SaysThatThereIsNoMemoryForIt) {
  MappedFile child;
  ASSERT_TRUE(child.Create(folder_.path()));
  {
    const NoMemory none;
    EXPECT_FALSE(table_.StartIn(&child));
  }
  EXPECT_EQ(kCpuSamplesFull, child.header()->incomplete);
}

}  // namespace
}  // namespace mallow::record
