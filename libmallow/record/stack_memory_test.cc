#include "record/stack_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace mallow::record {
namespace {

constexpr size_t kPage = 4096;

class StackMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pages_ = static_cast<char*>(
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(pages_ + kHole * kPage, kPage, PROT_NONE);
  }
  void TearDown() override { munmap(pages_, kPages * kPage); }

  uintptr_t At(size_t page, size_t offset = 0) const {
    return reinterpret_cast<uintptr_t>(pages_) + page * kPage + offset;
  }
  bool Reads(uintptr_t address) {
    uintptr_t value = 0;
    if (!memory_.Read(address, &value)) return false;
    EXPECT_EQ(value, *reinterpret_cast<uintptr_t*>(address));
    return true;
  }

  static constexpr size_t kPages = 64, kHole = 8;
  char* pages_;
  StackMemory memory_;
};

TEST_F(StackMemoryTest, StretchesUpToTheFirstUnreadablePage) {
  memory_.Begin(At(1, 64));
  EXPECT_FALSE(memory_.InOwnRange(At(2)));
  EXPECT_TRUE(Reads(At(4, 8)));
  EXPECT_TRUE(memory_.InOwnRange(At(2)));
  EXPECT_TRUE(memory_.InOwnRange(At(4)));
  EXPECT_FALSE(Reads(At(kHole)));
  EXPECT_TRUE(memory_.InOwnRange(At(kHole) - 8));
  EXPECT_FALSE(memory_.InOwnRange(At(kHole)));
}

TEST_F(StackMemoryTest, AsksForWhatLiesBeyond) {
  memory_.Begin(At(1, 64));
  EXPECT_TRUE(Reads(At(kHole + 2)));
  EXPECT_FALSE(memory_.InOwnRange(At(kHole + 2)));
  munmap(pages_ + (kHole + 2) * kPage, kPage);
  memory_.Begin(At(1, 64));
  EXPECT_FALSE(Reads(At(kHole + 2)));
}

TEST_F(StackMemoryTest, RefusesWhatCannotBeAWord) {
  memory_.Begin(At(1, 64));
  for (const uintptr_t address : {At(1, 4), uintptr_t{0}, uintptr_t{8}, uintptr_t{1} << 47, ~uintptr_t{7}}) {
    EXPECT_FALSE(Reads(address)) << std::hex << address;
  }
}

TEST_F(StackMemoryTest, AStackPointerAtTheVeryTopBelongsToThePageBelow) {
  memory_.Begin(At(kHole));
  EXPECT_TRUE(memory_.InOwnRange(At(kHole) - 8));
  EXPECT_FALSE(Reads(At(kHole)));
}

TEST_F(StackMemoryTest, GrowsDownWithTheStack) {
  memory_.Begin(At(5, 64));
  const uint32_t home = memory_.home();
  memory_.Begin(At(2, 64));
  EXPECT_EQ(memory_.home(), home);
  EXPECT_TRUE(memory_.InOwnRange(At(2)));
  EXPECT_TRUE(memory_.InOwnRange(At(5)));
}

TEST_F(StackMemoryTest, KnowsAStackToWhichItReturns) {
  memory_.Begin(At(1, 64));
  EXPECT_TRUE(Reads(At(4)));
  const uint32_t home = memory_.home();
  memory_.Begin(At(kHole + 3, 64));
  EXPECT_NE(memory_.home(), home);
  EXPECT_FALSE(memory_.InOwnRange(At(4)));
  memory_.Begin(At(1, 64));
  EXPECT_TRUE(memory_.InOwnRange(At(4)));
  EXPECT_NE(memory_.home(), home);
}

}  // namespace
}  // namespace mallow::record
