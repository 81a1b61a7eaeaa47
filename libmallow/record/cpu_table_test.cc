#include "record/cpu_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "record/mapped_file.h"
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
  uint64_t count() const { return file_.Used(Section::kCpuSamples); }

  TestFolder folder_;
  MappedFile file_;
  CpuTable table_;
};

TEST_F(CpuTableTest, AddsUpByNodeAndPart) {
  table_.Add(7, CpuPart::kProgram, 100, 1);
  table_.Add(7, CpuPart::kRecorder, 10, 1);
  table_.Add(7, CpuPart::kProgram, 50, 2);
  ASSERT_EQ(count(), 3u);
  EXPECT_EQ(Item(0).part, static_cast<uint32_t>(CpuPart::kNoRoom));
  EXPECT_EQ(Item(0).samples, 0u);
  EXPECT_EQ(Item(1).node, 7u);
  EXPECT_EQ(Item(1).nanoseconds, 150u);
  EXPECT_EQ(Item(1).samples, 3u);
  EXPECT_EQ(Item(2).part, static_cast<uint32_t>(CpuPart::kRecorder));
  EXPECT_EQ(Item(2).nanoseconds, 10u);
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
  ASSERT_EQ(count(), kNodes + 1u);
  for (uint32_t i = 1; i <= kNodes; ++i) {
    EXPECT_EQ(Item(i).samples, 4u);
    EXPECT_EQ(Item(i).nanoseconds, 4u * Item(i).node);
  }
}

TEST_F(CpuTableTest, StartsAnewInAnotherFile) {
  table_.Add(7, CpuPart::kProgram, 100, 1);
  MappedFile child;
  ASSERT_TRUE(child.Create(folder_.path()));
  ASSERT_TRUE(table_.StartIn(&child));
  table_.Add(7, CpuPart::kProgram, 5, 1);
  EXPECT_EQ(child.Items<CpuSample>(Section::kCpuSamples)[1].nanoseconds, 5u);
  EXPECT_EQ(Item(1).nanoseconds, 100u);
}

}  // namespace
}  // namespace mallow::record
