#include "os/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "os/memory.h"

namespace mallow::os {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/mallow_file_test_XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    folder_ = pattern;
    errno = 4711;
  }
  void TearDown() override {
    EXPECT_EQ(errno, 4711) << "a function of os/ wrote errno";
    EXPECT_EQ(system(("rm -rf " + folder_).c_str()), 0);
  }
  std::string Path(const char* name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(FileTest, CreatesOnlyWhatIsNotThere) {
  const std::string path = Path("new");
  const int descriptor = CreateExclusive(path.c_str(), 0600);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(CreateExclusive(path.c_str(), 0600), -EEXIST);
  FileStatus status;
  EXPECT_EQ(StatusOf(path.c_str(), &status), 0);
  EXPECT_EQ(status.mode & 07777, 0600u);
  EXPECT_EQ(status.size_bytes, 0u);
  EXPECT_EQ(status.user_id, getuid());
  Close(descriptor);
  EXPECT_EQ(StatusOf(Path("old").c_str(), &status), -ENOENT);
}

TEST_F(FileTest, WritesAllAndReads) {
  const std::string path = Path("data");
  const std::string text(100000, 'x');
  const int descriptor = CreateExclusive(path.c_str(), 0600);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(WriteAll(descriptor, text.data(), text.size()), 0);
  Close(descriptor);
  const int reader = OpenForReading(path.c_str());
  std::string read(text.size() + 10, 0);
  EXPECT_EQ(Read(reader, read.data(), read.size()), static_cast<long>(text.size()));
  EXPECT_EQ(read.substr(0, text.size()), text);
  EXPECT_EQ(Read(reader, read.data(), 1), 0);
  Close(reader);
  EXPECT_EQ(WriteAll(-1, "x", 1), -EBADF);
}

TEST_F(FileTest, SharedMappingsArePopulatedBeforeTheyAreWritten) {
  const std::string path = Path("map");
  const int descriptor = CreateExclusive(path.c_str(), 0600);
  const size_t bytes = 16 * PageSize();
  ASSERT_EQ(Truncate(descriptor, bytes), 0);
  FileStatus status;
  ASSERT_EQ(StatusOf(path.c_str(), &status), 0);
  EXPECT_EQ(status.allocated_bytes, 0u);
  char* p = static_cast<char*>(ReserveShared(descriptor, bytes));
  ASSERT_NE(p, nullptr);
  ASSERT_TRUE(AllowWriting(p, 4 * PageSize()));
  EXPECT_EQ(Populate(p, 4 * PageSize()), 0);
  p[0] = 'm';
  ASSERT_EQ(StatusOf(path.c_str(), &status), 0);
  EXPECT_EQ(status.size_bytes, bytes);
  char first = 0;
  EXPECT_EQ(Read(descriptor, &first, 1), 1);
  EXPECT_EQ(first, 'm');
  LetGo(p, 4 * PageSize());
  EXPECT_EQ(p[0], 'm');
  Close(descriptor);
  EXPECT_TRUE(UnmapShared(p, bytes));
}

TEST_F(FileTest, ReadsLinksAndLimits) {
  const std::string link = Path("link");
  ASSERT_EQ(symlink("target/of/link", link.c_str()), 0);
  char target[64];
  EXPECT_EQ(ReadLink(link.c_str(), target, sizeof(target)), 14);
  EXPECT_STREQ(target, "target/of/link");
  EXPECT_EQ(ReadLink(link.c_str(), target, 5), 4);
  EXPECT_STREQ(target, "targ");
  EXPECT_EQ(ReadLink(folder_.c_str(), target, sizeof(target)), -EINVAL);
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(FileSizeLimit(), limit.rlim_cur);
}

}  // namespace
}  // namespace mallow::os
