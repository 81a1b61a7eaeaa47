// Every call to the system about memory fails, one at a time and then all from one on: the heap returns null where it
// has none, and stays whole.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

std::atomic<int> calls_until_failure{-1};
std::atomic<bool> fail_forever{false};
std::atomic<bool> failed{false};

// True when the present call of the system is the one that fails.
bool FailsNow() {
  const int left = calls_until_failure.load();
  if (left == 0 || (failed && fail_forever)) {
    failed = true;
    calls_until_failure = -1;
    return true;
  }
  if (left > 0) --calls_until_failure;
  return false;
}

void* FailingMap(void* hint, size_t bytes) {
  return FailsNow() ? nullptr : os::SystemMemoryFunctions().map(hint, bytes);
}
bool FailingUnmap(void* p, size_t bytes) {
  return !FailsNow() && os::SystemMemoryFunctions().unmap(p, bytes);
}
bool FailingRelease(void* p, size_t bytes) {
  return !FailsNow() && os::SystemMemoryFunctions().release(p, bytes);
}
// As the system may fail: the target is unmapped already.
bool FailingMove(void* from, size_t bytes, void* to, size_t to_bytes, bool needed) {
  if (!FailsNow()) return os::SystemMemoryFunctions().move(from, bytes, to, to_bytes, needed);
  os::SystemMemoryFunctions().unmap(to, to_bytes);
  return false;
}

bool Refuse(void*, size_t) { return false; }

// What the system has left, where it counts what is mapped.
std::atomic<size_t> bytes_left{0};

void* LimitedMap(void* hint, size_t bytes) {
  if (bytes > bytes_left) return nullptr;
  bytes_left -= bytes;
  return os::SystemMemoryFunctions().map(hint, bytes);
}
bool LimitedUnmap(void* p, size_t bytes) {
  bytes_left += bytes;
  return os::SystemMemoryFunctions().unmap(p, bytes);
}

struct Block {
  unsigned char* p;
  size_t bytes;
};

// A block that grows, by any way there is, from small to 8 MiB. Returns how many calls were refused.
int GrowOne() {
  size_t bytes = 20000;
  auto* p = static_cast<unsigned char*>(Allocate(bytes));
  if (p == nullptr) return 1;
  int refused = 0;
  memset(p, 7, bytes);
  while (bytes < (8 << 20)) {
    const size_t wanted = bytes * 3 / 2;
    if (!ResizeInPlace(p, wanted)) {
      void* const moved = Relocate(p, wanted);
      if (moved == nullptr) {
        ++refused;
        break;
      }
      Free(p);
      p = static_cast<unsigned char*>(moved);
    }
    EXPECT_TRUE(AllBytesAre(p, bytes, 7));
    memset(p, 7, wanted);
    bytes = wanted;
  }
  EXPECT_TRUE(AllBytesAre(p, bytes, 7));
  Free(p);
  return refused;
}

// Grows the heap in every way it can grow. Returns how many calls were refused.
int Churn() {
  std::vector<Block> live;
  int refused = 0;
  auto keep = [&](void* p, size_t bytes) {
    if (p == nullptr) {
      ++refused;
      return;
    }
    memset(p, static_cast<int>(bytes % 251), bytes);
    live.push_back({static_cast<unsigned char*>(p), bytes});
  };
  for (int round = 0; round < 20; ++round) {
    if (round == 5) refused += GrowOne();
    if (round % 10 == 9) Trim(0);
    for (size_t bytes = 1; bytes < 200000; bytes = bytes * 3 / 2 + 1) keep(Allocate(bytes), bytes);
    keep(AllocateZeroed(1 << 20), 1 << 20);
    keep(AllocateAligned(1 << 17, 100), 100);
    if (live.size() > 1 && round % 3 == 0) {
      Block& block = live.back();
      if (ResizeInPlace(block.p, block.bytes * 2)) {
        block.bytes *= 2;
        memset(block.p, static_cast<int>(block.bytes % 251), block.bytes);
      }
    }
  }
  for (const Block& block : live) {
    EXPECT_TRUE(AllBytesAre(block.p, block.bytes, static_cast<unsigned char>(block.bytes % 251)));
    Free(block.p);
  }
  return refused;
}

enum class Call { kMap, kUnmap, kRelease, kMove };

struct Failure {
  int call;  // this one, counted from 0 among those of its kind
  Call kind;
  bool forever;
};

void FailAt(const Failure& failure) {
  static os::MemoryFunctions functions = os::SystemMemoryFunctions();
  switch (failure.kind) {
    case Call::kMap:
      functions.map = FailingMap;
      break;
    case Call::kUnmap:
      functions.unmap = FailingUnmap;
      break;
    case Call::kRelease:
      functions.release = FailingRelease;
      break;
    case Call::kMove:
      functions.move = FailingMove;
      break;
  }
  calls_until_failure = failure.call;
  fail_forever = failure.forever;
  os::ReplaceMemoryFunctions(&functions);
}

constexpr int kNoSuchCall = 2;

// In a process of its own, because the heap starts empty only once.
[[noreturn]] void RunWithFailure(const Failure& failure) {
  FailAt(failure);
  const int refused = Churn();
  os::ReplaceMemoryFunctions(nullptr);
  ExpectValidHeap();
  if (failed && failure.forever && failure.kind == Call::kMap) {
    EXPECT_GT(refused, 0);
  }
  if (failure.kind != Call::kMap) {
    EXPECT_EQ(refused, 0) << "the program is served all the same";
  }
  EXPECT_EQ(Churn(), 0) << "memory is there again";
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
  _exit(testing::Test::HasFailure() ? 1 : failed ? 0 : kNoSuchCall);
}

// Runs it in a child and returns the exit status, or -1 when it did not exit.
int StatusOf(const Failure& failure) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) RunWithFailure(failure);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Fails every call there is, one run for each. Returns how many there were.
int FailEach(Call kind, bool forever) {
  constexpr int kMostRuns = 500;
  for (int call = 0; call < kMostRuns; ++call) {
    const int status = StatusOf({call, kind, forever});
    if (status == kNoSuchCall) return call;
    EXPECT_EQ(status, 0) << "call " << call;
    if (status != 0) return call;
  }
  ADD_FAILURE() << "so many calls there are not";
  return kMostRuns;
}

TEST(OutOfMemory, EveryMappingFailsOnce) { EXPECT_GT(FailEach(Call::kMap, false), 8); }
TEST(OutOfMemory, MappingsFailFromOneOn) { EXPECT_GT(FailEach(Call::kMap, true), 3); }
TEST(OutOfMemory, EveryReleaseFailsOnce) { EXPECT_GT(FailEach(Call::kRelease, false), 3); }
TEST(OutOfMemory, EveryMoveFailsOnce) { EXPECT_GT(FailEach(Call::kMove, false), 0); }
TEST(OutOfMemory, MovesFailFromOneOn) { EXPECT_GT(FailEach(Call::kMove, true), 0); }
TEST(OutOfMemory, UnmappingsFailFromOneOn) { FailEach(Call::kUnmap, true); }

TEST(OutOfMemory, TheSystemTakesNothingBack) {
  static os::MemoryFunctions functions = os::SystemMemoryFunctions();
  functions.release = Refuse;
  functions.unmap = Refuse;
  const auto churn = [] {
    os::ReplaceMemoryFunctions(&functions);
    EXPECT_EQ(Churn(), 0);
    Trim(0);
    os::ReplaceMemoryFunctions(nullptr);
    ExpectValidHeap();
  };
  // The heap of this process stays empty for the other tests.
  EXPECT_EXIT((churn(), _exit(testing::Test::HasFailure())), testing::ExitedWithCode(0), "");
}

// One block after the other, each longer than all that is free in a row. Returns the bytes of the last one that was to be had.
size_t LongestOneByOne(size_t most) {
  size_t longest = 0;
  for (size_t bytes = 1 << 20; bytes < most; bytes += bytes / 8) {
    void* const p = AllocateZeroed(bytes);
    if (p == nullptr) break;
    EXPECT_TRUE(AllBytesAre(p, bytes, 0));
    memset(p, 7, bytes);
    longest = bytes;
    Free(p);
  }
  return longest;
}

TEST(OutOfMemory, AddressesOfFreeMemoryGoBackForALongerBlock) {
  static constexpr size_t kLimit = 64 << 20;
  static os::MemoryFunctions functions = os::SystemMemoryFunctions();
  functions.map = LimitedMap;
  functions.unmap = LimitedUnmap;
  const auto rise = [] {
    bytes_left = kLimit;
    os::ReplaceMemoryFunctions(&functions);
    EXPECT_GT(LongestOneByOne(kLimit), kLimit / 4 * 3);
    ExpectValidHeap();
    const Statistics statistics = GetStatistics();
    EXPECT_LE(statistics.system_bytes, statistics.most_system_bytes);
    EXPECT_LE(statistics.most_system_bytes, kLimit);
    // What would not do, even with all that is free, costs nothing.
    EXPECT_EQ(Allocate(2 * kLimit), nullptr);
    EXPECT_EQ(GetStatistics().system_bytes, statistics.system_bytes);
    // A free span of which the system refuses to take the addresses stays one.
    functions.unmap = Refuse;
    EXPECT_EQ(Allocate(statistics.system_bytes + (1 << 20)), nullptr);
    EXPECT_EQ(GetStatistics().system_bytes, statistics.system_bytes);
    ExpectValidHeap();
    os::ReplaceMemoryFunctions(nullptr);
    EXPECT_EQ(Churn(), 0);
    Trim(0);
    ExpectValidHeap();
    ExpectEmptyHeap();
  };
  EXPECT_EXIT((rise(), _exit(testing::Test::HasFailure())), testing::ExitedWithCode(0), "");
}

// Every second block is free, and each of these is shorter than what is wanted.
TEST(OutOfMemory, AddressesOfShortFreeStretchesGoBackForLongerBlocks) {
  static constexpr size_t kLimit = 64 << 20;
  static os::MemoryFunctions functions = os::SystemMemoryFunctions();
  functions.map = LimitedMap;
  functions.unmap = LimitedUnmap;
  const auto alternate = [] {
    bytes_left = kLimit;
    os::ReplaceMemoryFunctions(&functions);
    std::vector<void*> blocks;
    while (void* const p = Allocate(300'000)) blocks.push_back(p);
    size_t freed = 0, served = 0;
    for (size_t i = 0; i < blocks.size(); i += 2, freed += 300'000) Free(blocks[i]);
    while (Allocate(1'000'000) != nullptr) served += 1'000'000;
    EXPECT_GT(served, freed / 4 * 3);
    ExpectValidHeap();
  };
  EXPECT_EXIT((alternate(), _exit(testing::Test::HasFailure())), testing::ExitedWithCode(0), "");
}

// Free blocks of another size are no reason to refuse one.
TEST(OutOfMemory, WhatLiesInCachesServesEverySize) {
  const auto served_from = [](size_t cached_bytes, size_t bytes) {
    constexpr size_t kBytes = 8 << 20;
    std::vector<void*> blocks(kBytes / cached_bytes);
    for (void*& p : blocks) p = Allocate(cached_bytes);
    for (void* p : blocks) Free(p);
    FailAt({0, Call::kMap, true});
    size_t served = 0;
    while (Allocate(bytes) != nullptr) served += bytes;
    const Statistics statistics = GetStatistics();
    EXPECT_EQ(statistics.thread_cache_bytes + statistics.transfer_cache_bytes, 0u) << cached_bytes;
    EXPECT_GE(served, kBytes / 2) << cached_bytes;
  };
  for (const auto& [cached_bytes, bytes] : {std::pair<size_t, size_t>{1000, 50000}, {50000, 1000000}}) {
    EXPECT_EXIT((served_from(cached_bytes, bytes), _exit(testing::Test::HasFailure())),
                testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace mallow::heap
