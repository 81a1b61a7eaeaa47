#include "record/stack_memory.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <functional>

#include "os/thread.h"

namespace mallow::record {
namespace {

constexpr size_t kPage = 4096, kPages = 256;

// Pages of memory, which may be the stack of a thread.
class StackMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pages_ = static_cast<char*>(
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  void TearDown() override { munmap(pages_, kPages * kPage); }

  uintptr_t At(size_t page, size_t offset = 0) const {
    return reinterpret_cast<uintptr_t>(pages_) + page * kPage + offset;
  }
  void TakeAway(size_t page) { mprotect(pages_ + page * kPage, kPage, PROT_NONE); }
  bool Reads(uintptr_t address) {
    uintptr_t value = 0;
    if (!memory_.Read(address, &value)) return false;
    EXPECT_EQ(value, *reinterpret_cast<uintptr_t*>(address));
    return true;
  }
  void OnThesePages(std::function<void()> body) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(0, pthread_attr_setstack(&attributes, pages_, kPages * kPage));
    pthread_t thread;
    const auto run = [](void* argument) -> void* {
      (*static_cast<std::function<void()>*>(argument))();
      return nullptr;
    };
    ASSERT_EQ(0, pthread_create(&thread, &attributes, run, &body));
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }

  char* pages_;
  StackMemory memory_;
};

TEST_F(StackMemoryTest, TheFirstThreadsStackIsKnownToItsEnd) {
  os::NoteFirstThread();
  // Not of a variable, which AddressSanitizer may keep elsewhere.
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  memory_.Begin(here);
  EXPECT_TRUE(memory_.InOwnRange(here));
  EXPECT_TRUE(memory_.InOwnRange(os::StackEnd()));
  EXPECT_FALSE(memory_.InOwnRange(At(1)));
}

TEST_F(StackMemoryTest, AThreadsStackIsKnownFromTheLowestCaptureToItsEnd) {
  OnThesePages([this] {
    memory_.Begin(At(kPages - 40, 64));
    EXPECT_TRUE(memory_.InOwnRange(At(kPages - 40)));
    EXPECT_TRUE(memory_.InOwnRange(os::StackEnd()));
    EXPECT_FALSE(memory_.InOwnRange(At(kPages - 40) - 8));
    memory_.Begin(At(20, 64));
    EXPECT_TRUE(memory_.InOwnRange(At(20)));
    EXPECT_FALSE(memory_.InOwnRange(At(20) - 8));
    memory_.Begin(At(kPages - 40, 64));
    EXPECT_TRUE(memory_.InOwnRange(At(20)));
  });
}

TEST_F(StackMemoryTest, AStackPointerAtTheVeryEndOfAPageBelongsToThePageBelow) {
  OnThesePages([this] {
    memory_.Begin(At(20));
    EXPECT_TRUE(memory_.InOwnRange(At(20) - 8));
    EXPECT_FALSE(memory_.InOwnRange(At(19) - 8));
  });
}

TEST_F(StackMemoryTest, WhatLiesBeyondAGapIsNotTheThreadsStack) {
  OnThesePages([this] {
    TakeAway(8);
    memory_.Begin(At(4, 64));
    EXPECT_FALSE(memory_.InOwnRange(At(4)));
    EXPECT_TRUE(memory_.InOwnRange(At(9)));
    EXPECT_FALSE(memory_.IsOnOwnStack(At(4)));
    EXPECT_TRUE(Reads(At(4)));
    EXPECT_FALSE(Reads(At(8)));
  });
}

TEST_F(StackMemoryTest, AsksAnewAboutAnotherStack) {
  memory_.Begin(At(1, 64));
  EXPECT_TRUE(Reads(At(1)));
  EXPECT_TRUE(Reads(At(2)));
  EXPECT_FALSE(memory_.InOwnRange(At(1)));
  TakeAway(2);
  memory_.Begin(At(1, 64));
  EXPECT_TRUE(Reads(At(1)));
  EXPECT_FALSE(Reads(At(2)));
}

TEST_F(StackMemoryTest, ThePageOfTheStackPointerIsAHomeOfItsOwn) {
  memory_.Begin(At(2));  // its word lies in the page below
  const uint32_t home = memory_.HomeOf(At(1));
  EXPECT_NE(0u, home);
  EXPECT_NE(memory_.home(), home);
  EXPECT_EQ(home, memory_.HomeOf(At(2) - 8));
  EXPECT_EQ(0u, memory_.HomeOf(At(2)));
  EXPECT_TRUE(memory_.IsPlain(home));
  memory_.Begin(At(3));
  EXPECT_FALSE(memory_.IsPlain(home));
  EXPECT_FALSE(memory_.IsPlain(0));
  memory_.Begin(At(1, 64));
  EXPECT_TRUE(memory_.IsPlain(home));
}

// Two such pages could not be told apart.
TEST_F(StackMemoryTest, APageFarFromAllOthersIsNoHome) {
  const uintptr_t low = uintptr_t{1} << 44;
  memory_.Begin(low + 64);
  EXPECT_EQ(0u, memory_.HomeOf(low + 64));
}

TEST_F(StackMemoryTest, RefusesWhatCannotBeAWord) {
  memory_.Begin(At(1, 64));
  for (const uintptr_t address : {At(1, 4), uintptr_t{0}, uintptr_t{8}, uintptr_t{1} << 47, ~uintptr_t{7}}) {
    EXPECT_FALSE(Reads(address)) << std::hex << address;
  }
}

TEST_F(StackMemoryTest, ForgetsForAnotherThread) {
  os::NoteFirstThread();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  memory_.Begin(here);
  const uint32_t home = memory_.home();
  EXPECT_NE(0u, home);
  memory_.Forget();
  EXPECT_FALSE(memory_.InOwnRange(here));
  EXPECT_NE(home, memory_.home());
}

}  // namespace
}  // namespace mallow::record
