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

}  // namespace
}  // namespace mallow::os
