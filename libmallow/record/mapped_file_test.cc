#include "record/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/bits.h"
#include "os/clock.h"
#include "record/test_folder.h"
#include "record/test_process.h"

namespace mallow::record {
namespace {

TEST(MappedFile, WritesTheHeaderAsSpecified) {
  TestFolder folder;
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  const Header& header = *file.header();
  EXPECT_EQ(0, memcmp(header.magic, "MALLOWRC", 8));
  EXPECT_EQ(5u, header.major);
  EXPECT_EQ(4096u, header.header_bytes);
  EXPECT_EQ(static_cast<uint64_t>(getpid()), header.pid);
  EXPECT_EQ(static_cast<uint64_t>(getppid()), header.parent_pid);
  uint64_t end = kHeaderBytes;
  for (const SectionEntry& entry : header.sections) {
    EXPECT_GE(entry.offset, end);
    EXPECT_EQ(0u, entry.offset % 4096);
    EXPECT_EQ(0u, entry.used);
    end = entry.offset + entry.reserved_bytes;
  }
  ASSERT_EQ(1u, folder.Names().size());
  EXPECT_EQ(folder.Names()[0], file.name());
  struct stat status;
  ASSERT_EQ(0, stat((std::string(folder.path()) + "/" + file.name()).c_str(), &status));
  EXPECT_EQ(0600u, status.st_mode & 0777);
  EXPECT_LE(status.st_blocks * 512, 64 * 1024);
}

TEST(MappedFile, LeavesNoDescriptorOpen) {
  TestFolder folder;
  const int before = OpenDescriptors();
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  EXPECT_EQ(before, OpenDescriptors());
}

TEST(MappedFile, GrowsInPlaceAndReadsBackFromTheFile) {
  TestFolder folder;
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  constexpr uint64_t kCount = 100'000;
  uint32_t* items = file.Items<uint32_t>(Section::kStacks);
  for (uint32_t i = 0; i < kCount; i++) {
    ASSERT_TRUE(file.Grow(Section::kStacks, i + 1, kStacksFull));
    items[i] = i * 3;
    file.SetUsed(Section::kStacks, i + 1);
  }
  EXPECT_EQ(kCount, file.Used(Section::kStacks));
  const int fd = open((std::string(folder.path()) + "/" + file.name()).c_str(), O_RDONLY);
  uint32_t value = 0;
  const uint64_t offset =
      file.header()->sections[SectionIndex(Section::kStacks)].offset + (kCount - 1) * sizeof(value);
  ASSERT_EQ(static_cast<ssize_t>(sizeof(value)), pread(fd, &value, sizeof(value), offset));
  EXPECT_EQ((kCount - 1) * 3, value);
  close(fd);
}

// A short recording takes little more of the disk and of memory than what is in it.
TEST(MappedFile, OpensAnEighthAheadAndAtFirstAHalf) {
  TestFolder folder;
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  const std::string path = std::string(folder.path()) + "/" + file.name();
  const auto bytes = [&path] {
    struct stat status;
    return stat(path.c_str(), &status) == 0 ? status.st_blocks * 512 : -1;
  };
  const int64_t empty = bytes();
  for (int64_t pages = 1; pages <= 1000; pages++) {
    ASSERT_TRUE(file.Grow(Section::kCounterPages, static_cast<uint64_t>(pages), kStacksFull));
    const int64_t used = pages * static_cast<int64_t>(kCounterPageBytes);
    constexpr int64_t kMostByHalves = 64 * 1024 / 2;
    const int64_t ahead = std::max(used / 8, std::min(used / 2, kMostByHalves));
    ASSERT_LE(bytes() - empty, used + ahead + static_cast<int64_t>(kCounterPageBytes));
  }
}

// Whether the kernel was told that pages around `p` will not be wanted.
bool IsRandom(const void* p) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin, end;
    if (sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      inside = begin <= reinterpret_cast<uintptr_t>(p) && reinterpret_cast<uintptr_t>(p) < end;
    if (inside && line.starts_with("VmFlags:")) return line.find(" rr") != std::string::npos;
  }
  return false;
}

TEST(MappedFile, ReadsAheadWhereASectionHasGrownLarge) {
  TestFolder folder;
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  constexpr uint64_t kPages = (12 << 20) / kCounterPageBytes;
  char* const pages = file.Items<char>(Section::kCounterPages);
  for (uint64_t i = 0; i < kPages; i++) {
    ASSERT_TRUE(file.Grow(Section::kCounterPages, i + 1, kStacksFull));
    memset(pages + i * kCounterPageBytes, static_cast<int>(i), kCounterPageBytes);
  }
  EXPECT_TRUE(IsRandom(pages));
  EXPECT_FALSE(IsRandom(pages + (kPages - 1) * kCounterPageBytes));
  EXPECT_FALSE(IsRandom(pages + kPages * kCounterPageBytes + (2 << 20)));
  EXPECT_TRUE(IsRandom(file.Items<char>(Section::kSteps)));
  for (uint64_t i = 0; i < kPages; i++)
    ASSERT_EQ(static_cast<char>(i), pages[(i + 1) * kCounterPageBytes - 1]);
}

// Whether it ends without another system call than the one to end.
template <typename Code>
bool MakesNoSystemCall(Code code) {
  const pid_t child = fork();
  if (child == 0) {
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    const sock_fprog program = {std::size(filter), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      _exit(2);
    code();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(MappedFile, SaysWhenASectionIsFull) {
  TestFolder folder;
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  const SectionEntry& modules = file.header()->sections[SectionIndex(Section::kModules)];
  EXPECT_FALSE(file.Grow(Section::kModules, modules.reserved_bytes / modules.item_bytes + 1, kModulesFull));
  EXPECT_EQ(static_cast<uint32_t>(kModulesFull), file.header()->incomplete);
  // From then on each call of the program may ask.
  if (kSanitized) return;  // a sanitizer makes system calls of its own
  EXPECT_TRUE(MakesNoSystemCall(
      [&] { file.Grow(Section::kModules, modules.reserved_bytes / modules.item_bytes + 1, kModulesFull); }));
  EXPECT_FALSE(MakesNoSystemCall([&] { file.Grow(Section::kStacks, modules.reserved_bytes, kStacksFull); }));
}

// Under a limit that came later a file keeps what it uses, and as much as it would have been given; whatever else comes to lie
// where the rest was is left alone.
TEST(MappedFile, GivesBackRoom) {
  TestFolder folder;
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  const auto page_of = [&](uint64_t page) {
    return file.Items<char>(Section::kCounterPages) + page * kCounterPageBytes;
  };
  constexpr uint64_t kFirst = 100;
  ASSERT_TRUE(file.Grow(Section::kCounterPages, kFirst, kStacksFull));
  memset(page_of(0), 1, kFirst * kCounterPageBytes);
  const auto give_back = [&] {
    EXPECT_TRUE(file.TryLockRoom());
    const bool given = file.GiveBackRoom();
    file.room_lock().Unlock();
    return given;
  };
  EXPECT_FALSE(give_back()) << "nothing is limited further";
  struct rlimit before;
  getrlimit(RLIMIT_AS, &before);
  // Far less than the file was made under.
  const struct rlimit limit = {Min(uint64_t{1} << 30, before.rlim_cur / 16), before.rlim_max};
  setrlimit(RLIMIT_AS, &limit);
  const bool given = give_back(), again = give_back();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_TRUE(given);
  EXPECT_FALSE(again);

  // The sections together have an eighth now, this one the greatest part of it.
  const uint64_t most =
      file.header()->sections[SectionIndex(Section::kCounterPages)].reserved_bytes / kCounterPageBytes;
  char* const other = page_of(most / 2);
  constexpr size_t kOtherBytes = 1 << 20;
  ASSERT_EQ(other, mmap(other, kOtherBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  memset(other, 7, kOtherBytes);
  EXPECT_TRUE(file.Grow(Section::kCounterPages, 2 * kFirst, kStacksFull));
  memset(page_of(kFirst), 1, kFirst * kCounterPageBytes);
  EXPECT_EQ(1, *page_of(kFirst - 1));
  EXPECT_FALSE(file.Grow(Section::kCounterPages, most / 4, kStacksFull));
  EXPECT_EQ(static_cast<uint32_t>(kStacksFull), file.header()->incomplete);

  MappedFile::Mapping mapping;
  EXPECT_TRUE(file.Detach(&mapping));
  MappedFile::Unmap(mapping);
  for (size_t i = 0; i < kOtherBytes; i++) ASSERT_EQ(7, other[i]);
  munmap(other, kOtherBytes);
}

// What the sections of a copy name is in it, though the file grows meanwhile.
TEST(MappedFile, ACopyNamesNothingThatItDoesNotHold) {
  TestFolder folder;
  MappedFile file;
  ASSERT_TRUE(file.Create(folder.path()));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    // Item i of each names item i of the next; they come in the other order.
    constexpr Section kChain[] = {Section::kSteps, Section::kStacks, Section::kCounterPages};
    for (uint64_t i = 0; i < 60'000 && !done; i++) {
      for (const Section section : kChain) {
        if (!file.Grow(section, i + 1, kFileFull)) return;
        file.SetUsed(section, i + 1);
      }
    }
  });
  for (int i = 0; i < 20; i++) {
    TestFolder copies;
    ASSERT_TRUE(file.CopyTo(copies.path()));
    std::ifstream in(std::string(copies.path()) + "/" + copies.Names()[0], std::ios::binary);
    alignas(Header) char page[kHeaderBytes];
    ASSERT_TRUE(in.read(page, sizeof(page)));
    const Header& header = *reinterpret_cast<const Header*>(page);
    const auto used = [&](Section section) { return header.sections[SectionIndex(section)].used; };
    EXPECT_EQ(0, memcmp(header.magic, kMagic, sizeof(kMagic)));
    EXPECT_LE(used(Section::kCounterPages), used(Section::kStacks));
    EXPECT_LE(used(Section::kStacks), used(Section::kSteps));
  }
  done = true;
  writer.join();
}

TEST(MappedFile, TwoInTheSameFolderGetTwoNames) {
  TestFolder folder;
  MappedFile one, two;
  ASSERT_TRUE(one.Create(folder.path()));
  ASSERT_TRUE(two.Create(folder.path()));
  EXPECT_STRNE(one.name(), two.name());
  EXPECT_EQ(2u, folder.Names().size());
}

TEST(MappedFile, MissingFolderIsAFailureThatLeavesNothing) {
  TestFolder folder;
  MappedFile file;
  EXPECT_FALSE(file.Create((std::string(folder.path()) + "/none").c_str()));
  EXPECT_TRUE(folder.Names().empty());
}

TEST(MappedFile, FitsUnderALimitOfFileSize) {
  TestFolder folder;
  EXPECT_TRUE(InChild([&] {
    const rlimit limit = {8 << 20, 8 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    MappedFile file;
    return file.Create(folder.path()) && file.Grow(Section::kSteps, 1000, kNodesFull);
  }));
  EXPECT_TRUE(InChild([&] {
    const rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    MappedFile file;
    return !file.Create(folder.path());  // and no SIGXFSZ
  }));
  // The second leaves word that it could not record.
  ASSERT_EQ(2u, folder.Names().size());
  int empty = 0;
  for (const std::string& name : folder.Names()) {
    struct stat status;
    ASSERT_EQ(0, stat((std::string(folder.path()) + "/" + name).c_str(), &status));
    empty += status.st_size == 0;
  }
  EXPECT_EQ(1, empty);
}

TEST(MappedFile, AFullDiskIsAFailedGrowth) {
  TestFolder folder;
  if (mount("tmpfs", folder.path(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "needs the right to mount a small file system";
  }
  MappedFile file;
  bool full = false;
  ASSERT_TRUE(file.Create(folder.path()));
  for (uint64_t i = 1; i < 100 && !full; i++) {
    full = !file.Grow(Section::kCounterPages, i, kStacksFull);
    if (!full) memset(file.Items<char>(Section::kCounterPages), 1, i * kCounterPageBytes);
  }
  EXPECT_TRUE(full);
  EXPECT_EQ(static_cast<uint32_t>(kFileFull), file.header()->incomplete);
  // It is asked again, though not within the same tick of the clock: each call of a program might ask. (Where the tick was
  // over before the second question, nothing is learnt.)
  const auto grows = [&] { return file.Grow(Section::kCounterPages, 100, kStacksFull); };
  usleep(100'000);
  const uint64_t asked = os::CoarseNanoseconds();
  EXPECT_FALSE(grows());
  ASSERT_EQ(0, mount("tmpfs", folder.path(), "tmpfs", MS_REMOUNT, "size=1m"));
  const bool grew = grows();
  EXPECT_FALSE(grew && os::CoarseNanoseconds() < asked + os::TickNanoseconds());
  for (int naps = 0; naps < 10'000 && !grows(); naps++) usleep(1000);
  EXPECT_TRUE(grows());
  umount2(folder.path(), MNT_DETACH);
}

}  // namespace
}  // namespace mallow::record
