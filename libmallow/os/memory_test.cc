#include "os/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mallow::os {
namespace {

TEST(Memory, PageSizeIsTheSystems) { EXPECT_EQ(PageSize(), static_cast<size_t>(sysconf(_SC_PAGESIZE))); }

TEST(Memory, FreshPagesAreZeroAndAgainAfterRelease) {
  const size_t bytes = 4 * PageSize();
  char* p = static_cast<char*>(Map(nullptr, bytes));
  ASSERT_NE(p, nullptr);
  for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(p[i], 0);
  memset(p, 1, bytes);
  EXPECT_TRUE(Release(p, 2 * PageSize()));
  EXPECT_EQ(p[0], 0);
  EXPECT_EQ(p[bytes - 1], 1);
  EXPECT_TRUE(Unmap(p, bytes));
}

TEST(Memory, MovesPages) {
  const size_t bytes = 4 * PageSize();
  const size_t longer = 3 * bytes;
  char* from = static_cast<char*>(Map(nullptr, bytes));
  char* to = static_cast<char*>(Map(nullptr, longer));
  memset(from, 7, bytes);
  if (!MovePages(from, bytes, to, longer)) GTEST_SKIP() << "the kernel is older than 5.7";
  EXPECT_EQ(to[0], 7);
  EXPECT_EQ(to[bytes - 1], 7);
  EXPECT_EQ(from[0], 0);
  EXPECT_EQ(to[bytes], 0);
  EXPECT_EQ(to[longer - 1], 0);
  memset(to, 8, longer);
  // What is moved and what is behind it are one mapping: it moves again.
  char* again = static_cast<char*>(Map(nullptr, longer));
  EXPECT_TRUE(MovePages(to, longer, again, longer));
  EXPECT_EQ(again[longer - 1], 8);
  EXPECT_TRUE(Unmap(from, bytes) && Unmap(to, longer) && Unmap(again, longer));
}

// Mappings of a page each, until the system gives no more; of these some can be given back.
class AllMappings {
 public:
  AllMappings() {
    space_ = static_cast<char*>(
        mmap(nullptr, kPages * PageSize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (space_ == MAP_FAILED) _exit(2);
    while (used_ < kPages && Protect(used_, PROT_READ)) used_ += 2;
    if (used_ >= kPages) _exit(0);  // A system without such a limit.
  }
  void GiveBackTwo() { Protect(used_ -= 2, PROT_NONE); }

 private:
  static constexpr size_t kPages = 1 << 20;

  bool Protect(size_t page, int protection) {
    return mprotect(space_ + page * PageSize(), PageSize(), protection) == 0;
  }

  char* space_;
  size_t used_ = 2;
};

// Each time a few more of the mappings of a block could be moved.
[[noreturn]] void MoveWhereMappingsEnd() {
  constexpr size_t kParts = 8;
  const size_t page = PageSize();
  const size_t bytes = kParts * 2 * page;
  char* from = static_cast<char*>(Map(nullptr, bytes));
  memset(from, 7, bytes);
  for (size_t i = 0; i < kParts; ++i) {
    if (madvise(from + i * 2 * page, page, MADV_DONTFORK) != 0) _exit(2);
  }
  char* places[2 * kParts];
  for (char*& place : places) place = static_cast<char*>(Map(nullptr, bytes));
  AllMappings mappings;
  for (char* place : places) {
    if (MovePages(from, bytes, place, bytes)) from = place;
    for (size_t i = 0; i < bytes; ++i) {
      if (from[i] != 7) _exit(1);
    }
    mappings.GiveBackTwo();
  }
  _exit(0);
}

TEST(MemoryDeathTest, MovesAllPagesOrNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(MoveWhereMappingsEnd(), testing::ExitedWithCode(0), "") << "1: contents are lost";
}

bool IsLocked(void* p, size_t bytes) { return msync(p, bytes, MS_INVALIDATE) != 0 && errno == EBUSY; }

// What lies at the old addresses next is to be locked too.
[[noreturn]] void MoveWhatIsLocked() {
  mlockall(MCL_FUTURE);
  const size_t bytes = 4 * PageSize();
  char* from = static_cast<char*>(Map(nullptr, bytes));
  char* to = static_cast<char*>(Map(nullptr, bytes));
  if (from == nullptr || to == nullptr) _exit(2);
  // The system does not let us, or a sanitizer does not.
  if (!IsLocked(from, bytes)) _exit(0);
  memset(from, 7, bytes);
  const bool moved = MovePages(from, bytes, to, bytes);
  _exit(moved || !IsLocked(from, bytes) || from[bytes - 1] != 7 || ResidentBytes(to, bytes) != 0 ? 1 : 0);
}

TEST(MemoryDeathTest, LeavesLockedPagesWhereTheyAre) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(MoveWhatIsLocked(), testing::ExitedWithCode(0), "") << "1: moved, or locked no longer";
}

TEST(Memory, KnowsWhatIsResident) {
  const size_t pages = 1300;
  const size_t bytes = pages * PageSize();
  char* p = static_cast<char*>(Map(nullptr, bytes));
  ASSERT_NE(p, nullptr);
  // A huge page would be resident as a whole; a kernel without them refuses, and is right.
  madvise(p, bytes, MADV_NOHUGEPAGE);
  EXPECT_EQ(ResidentBytes(p, bytes), 0u);
  for (size_t page : {size_t{0}, size_t{7}, pages - 1}) p[page * PageSize()] = 1;
  EXPECT_EQ(ResidentBytes(p, bytes), 3 * PageSize());
  EXPECT_EQ(ResidentBytes(p, bytes - 1), 3 * PageSize());
  EXPECT_EQ(ResidentBytes(p, 8 * PageSize()), 2 * PageSize());
  EXPECT_TRUE(Unmap(p, bytes));
  EXPECT_EQ(ResidentBytes(p, bytes), 0u);
}

TEST(Memory, FailuresLeaveErrnoAlone) {
  errno = 4711;
  EXPECT_EQ(Map(nullptr, size_t{1} << 62), nullptr);
  EXPECT_FALSE(Unmap(reinterpret_cast<void*>(1), 4096));
  EXPECT_FALSE(Release(reinterpret_cast<void*>(1), 4096));
  EXPECT_EQ(errno, 4711);
}

// Wide enough for a sanitizer.
[[noreturn]] void AskUnderALimit() {
  const rlimit limit = {rlim_t{1} << 45, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
  _exit(AheadOfUse(1 << 20) == 1 << 20 && AheadOfUse(size_t{1} << 40) == size_t{1} << 39 ? 0 : 1);
}

TEST(MemoryDeathTest, LessIsMappedAheadWhereTheAddressSpaceIsLimited) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(AheadOfUse(1 << 20) == 1 << 20 ? 0 : 1), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(AskUnderALimit(), testing::ExitedWithCode(0), "");
}

// Who keeps addresses is asked where the system has refused, and then the system once more.
TEST(Memory, TheSpareIsAskedForWhereThereIsNone) {
  static int mapped, asked;
  static bool given;
  static char page[4096];
  static const MemoryFunctions kOnlyTheSpare = {[](void*, size_t) -> void* {
                                                  mapped++;
                                                  return given ? page : nullptr;
                                                },
                                                [](void*, size_t) { return false; },
                                                [](void*, size_t) { return false; }};
  ReplaceMemoryFunctions(&kOnlyTheSpare);
  EXPECT_EQ(nullptr, Map(nullptr, sizeof(page)));
  EXPECT_EQ(1, mapped);
  SetSpare([] {
    asked++;
    return false;
  });
  EXPECT_EQ(nullptr, Map(nullptr, sizeof(page)));
  EXPECT_EQ(2, mapped);
  SetSpare([] {
    asked++;
    return given = true;
  });
  EXPECT_EQ(page, Map(nullptr, sizeof(page)));
  EXPECT_EQ(4, mapped);
  EXPECT_EQ(page, Map(nullptr, sizeof(page)));
  EXPECT_EQ(2, asked);
  given = false;
  EXPECT_EQ(nullptr, Map(nullptr, size_t{1} << kAddressBits));
  EXPECT_EQ(2, asked) << "for more than there are addresses";
  SetSpare(nullptr);
  ReplaceMemoryFunctions(nullptr);
}

TEST(Memory, FunctionsCanBeReplaced) {
  static const MemoryFunctions kNothing = {[](void*, size_t) -> void* { return nullptr; },
                                           [](void*, size_t) { return false; },
                                           [](void*, size_t) { return false; }};
  const uint64_t calls = MapCalls();
  ReplaceMemoryFunctions(&kNothing);
  EXPECT_EQ(Map(nullptr, 4096), nullptr);
  ReplaceMemoryFunctions(nullptr);
  EXPECT_EQ(MapCalls(), calls + 1);
  void* p = Map(nullptr, 4096);
  EXPECT_NE(p, nullptr);
  Unmap(p, 4096);
}

}  // namespace
}  // namespace mallow::os
