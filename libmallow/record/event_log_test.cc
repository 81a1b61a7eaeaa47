#include "record/event_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "record/test_folder.h"
#include "record/test_process.h"

namespace mallow::record {
namespace {

constexpr char kImage[] = "image-7-8-9";

LogHeader HeaderOf(const TestFolder& folder) {
  LogHeader header = {};
  const int fd = open((std::string(folder.path()) + "/log-7-8-9").c_str(), O_RDONLY);
  EXPECT_EQ(static_cast<ssize_t>(sizeof(header)), read(fd, &header, sizeof(header)));
  close(fd);
  return header;
}

bool Make(const char* folder, uint64_t limit) {
  g_event_log.SetLimit(limit);
  return g_event_log.Create(folder, kImage);
}

struct Thread {
  Thread() : stream(static_cast<EventStream*>(calloc(1, sizeof(EventStream)))) {
    stream->Begin(&stream, 3);
    stream->SetThread(33);
  }
  // Events until the log ends, no more than `most`.
  uint64_t Fill(uint64_t most) {
    uint64_t events = 0;
    while (stream != nullptr && events < most) {
      events++;
      stream->Birth(1, events * 7919 % 100000, reinterpret_cast<void*>(events * 7919 % 100000 * 4096), 0,
                    events);
    }
    return events;
  }
  EventStream* stream;
};

TEST(EventLog, WritesTheHeaderAsSpecified) {
  TestFolder folder;
  ASSERT_TRUE(InChild([&] {
    const int before = OpenDescriptors();
    return Make(folder.path(), 1 << 20) && OpenDescriptors() == before;
  }));
  ASSERT_EQ(1u, folder.Names().size());
  const LogHeader header = HeaderOf(folder);
  EXPECT_EQ(0, memcmp(header.magic, "MALLOWLG", 8));
  EXPECT_EQ(1u, header.major);
  EXPECT_EQ(kLogBlockBytes, header.block_bytes);
  EXPECT_EQ(static_cast<uint32_t>(EventLog::BestClock()), header.clock);
  EXPECT_EQ(0u, header.end);
  EXPECT_EQ(1u << 20, header.limit_bytes);
  EXPECT_EQ(1u, header.blocks);
  if (EventLog::BestClock() == LogClock::kCycleCounter) {
    EXPECT_GT(header.second_stamp, header.start_stamp);
    EXPECT_GT(header.second_ns, header.start_ns);
  }
  struct stat status;
  ASSERT_EQ(0, stat((std::string(folder.path()) + "/log-7-8-9").c_str(), &status));
  EXPECT_EQ(0600u, status.st_mode & 0777);
  EXPECT_LE(status.st_blocks * 512, 64 * 1024);
}

TEST(EventLog, EndsAtItsLimit) {
  TestFolder folder;
  EXPECT_TRUE(InChild([&] {
    if (!Make(folder.path(), 10 * kLogBlockBytes + 5)) return false;
    Thread thread;
    const uint64_t events = thread.Fill(1 << 30);
    // Once ended it stays so, for new blocks and new streams.
    uint32_t number;
    return events > 10'000 && thread.stream == nullptr && g_event_log.TakeBlock(5, &number) == nullptr;
  }));
  const LogHeader header = HeaderOf(folder);
  EXPECT_EQ(static_cast<uint32_t>(LogEnd::kLimit), header.end);
  EXPECT_EQ(5u, header.end_stamp) << "the first stamp that is missing, in whatever order the threads come";
  EXPECT_EQ(10u * kLogBlockBytes, header.limit_bytes);
}

TEST(EventLog, EndsWhenTheDiskIsFull) {
  TestFolder folder;
  const std::string small = std::string(folder.path()) + "/small";
  ASSERT_EQ(0, mkdir(small.c_str(), 0700));
  const bool mounted = mount("mallow-test", small.c_str(), "tmpfs", 0, "size=256k") == 0;
  const bool ended = !mounted || InChild([&] {
    if (!Make(small.c_str(), 1 << 30)) return false;
    Thread thread;
    return thread.Fill(1 << 30) > 10'000 && thread.stream == nullptr;
  });
  if (mounted) umount(small.c_str());
  rmdir(small.c_str());
  if (!mounted) GTEST_SKIP() << "only root may mount a file system";
  EXPECT_TRUE(ended);
}

TEST(EventLog, KeepsToALimitOfFileSize) {
  TestFolder folder;
  EXPECT_TRUE(InChild([&] {
    const rlimit limit = {1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || !Make(folder.path(), 1 << 30)) return false;
    Thread thread;
    return thread.Fill(1 << 30) > 50'000;
  }));
  EXPECT_EQ(1u << 20, HeaderOf(folder).limit_bytes);
}

TEST(EventLog, IsNotMadeWithoutRoomForABlock) {
  TestFolder folder;
  EXPECT_TRUE(InChild([&] {
    return !Make(folder.path(), 40'000) && !g_event_log.Create("/nonexistent", kImage) &&
           (g_event_log.SetLimit(1 << 20), g_event_log.Create(folder.path(), kImage)) &&
           !g_event_log.Create(folder.path(), kImage);
  }));
  EXPECT_EQ(1u, folder.Names().size());
}

TEST(EventLog, AForkChildHasItsOwn) {
  TestFolder folder;
  EXPECT_TRUE(InChild([&] {
    if (!Make(folder.path(), 1 << 20)) return false;
    Thread thread;
    thread.Fill(100);
    return InChild([&] {
             if (!g_event_log.CreateInChild(folder.path(), "image-8-8-8")) return false;
             Thread other;
             return other.Fill(1 << 30) > 50'000;
           }) &&
           thread.Fill(100) == 100;
  }));
  EXPECT_EQ(2u, folder.Names().size());
  EXPECT_EQ(0u, HeaderOf(folder).end) << "the child has filled its own";
  EXPECT_EQ(2u, HeaderOf(folder).blocks);
}

}  // namespace
}  // namespace mallow::record
