#include "os/readable.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

namespace mallow::os {
namespace {

TEST(ReadableTest, KnowsWhatCanBeRead) {
  const uintptr_t word = 1;
  EXPECT_TRUE(IsReadable(reinterpret_cast<uintptr_t>(&word)));
  EXPECT_FALSE(IsReadable(0));
  EXPECT_FALSE(IsReadable(8));
  EXPECT_FALSE(IsReadable(~uintptr_t{7}));
  EXPECT_FALSE(IsReadable(uintptr_t{1} << 60));
}

TEST(ReadableTest, KnowsPagesWithoutAccess) {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto address = reinterpret_cast<uintptr_t>(page);
  EXPECT_FALSE(IsReadable(address));
  mprotect(page, 4096, PROT_READ);
  EXPECT_TRUE(IsReadable(address));
  munmap(page, 4096);
  errno = 17;
  EXPECT_FALSE(IsReadable(address));
  EXPECT_EQ(errno, 17);
}

TEST(ReadablePagesTest, AsksAboutEveryPageOfARange) {
  constexpr size_t kPage = 4096;
  char* pages = static_cast<char*>(mmap(nullptr, 4 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto has = [](const void* begin, size_t bytes) {
    ReadablePages nothing_known = {};
    return nothing_known.Has(begin, bytes);
  };
  EXPECT_TRUE(has(pages, 4 * kPage));
  munmap(pages + 2 * kPage, kPage);
  EXPECT_FALSE(has(pages, 4 * kPage));
  EXPECT_TRUE(has(pages, 2 * kPage));
  EXPECT_FALSE(has(pages + 1, 2 * kPage));
  EXPECT_TRUE(has(pages + 2 * kPage, 0));
  EXPECT_TRUE(has(pages + 3 * kPage, 1));
  munmap(pages, 4 * kPage);
}

TEST(ReadablePagesTest, RemembersTheLatestEight) {
  constexpr size_t kPage = 4096, kKept = 8;
  char* pages =
      static_cast<char*>(mmap(nullptr, (kKept + 1) * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ReadablePages known = {};
  for (size_t i = 0; i < kKept; ++i) EXPECT_TRUE(known.Has(pages + i * kPage, 1));
  munmap(pages, kPage);
  for (int again = 0; again < 2; ++again) {
    for (size_t i = 0; i < kKept; ++i) EXPECT_TRUE(known.Has(pages + i * kPage, kPage)) << i;
  }
  EXPECT_TRUE(known.Has(pages + kKept * kPage, 1));
  EXPECT_FALSE(known.Has(pages, 1)) << "it was the oldest";
  munmap(pages + kPage, kPage);
  EXPECT_TRUE(known.HasWord(reinterpret_cast<uintptr_t>(pages + kPage)));
  known.Forget();
  EXPECT_FALSE(known.HasWord(reinterpret_cast<uintptr_t>(pages + kPage)));
  munmap(pages + 2 * kPage, (kKept - 1) * kPage);
}

}  // namespace
}  // namespace mallow::os
