#include "record/module_table.h"

#include <gtest/gtest.h>

#include "record/mapped_file.h"
#include "record/no_memory.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

const auto kHere = reinterpret_cast<uintptr_t>(&os::ReplaceMemoryFunctions);

class ModuleTableTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(file_.Create(folder_.path())); }

  TestFolder folder_;
  MappedFile file_;
  ModuleTable table_;
};

TEST_F(ModuleTableTest, OneModuleForAllItsAddresses) {
  table_.Init(&file_);
  const uint32_t id = table_.IdAt(kHere);
  EXPECT_NE(0u, id);
  EXPECT_EQ(id, table_.IdAt(kHere + 1));
  EXPECT_EQ(1u, file_.Used(Section::kModules));
  EXPECT_EQ(0u, file_.header()->incomplete);
}

TEST_F(ModuleTableTest, SaysThatThereIsNoMemoryForIt) {
  {
    const NoMemory none;
    table_.Init(&file_);
  }
  EXPECT_EQ(0u, table_.IdAt(kHere));
  EXPECT_EQ(kModulesFull, file_.header()->incomplete);
}

}  // namespace
}  // namespace mallow::record
