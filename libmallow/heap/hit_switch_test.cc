#include "heap/hit_switch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "heap/block.h"
#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "heap/statistics.h"
#include "heap/thread_cache.h"

namespace mallow::heap {
namespace {

constexpr size_t kRecordBytes = 16;

void* RecordOf(const void* p) { return Describe<kRecordBytes>(p).record; }

// Leaves a block in the bin of its class.
bool Hits(size_t bytes) {
  Free(Allocate(bytes));
  void* p = TryAllocate(bytes);
  if (p == nullptr) return false;
  Free(p);
  return true;
}

TEST(HitSwitchTest, ClosesAndOpensAllThreads) {
  constexpr int kThreads = 4;
  std::atomic<int> phase{0}, done{0};
  std::atomic<int> hits[3] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int of = 0; of < 3; ++of) {
        while (phase.load() < of) std::this_thread::yield();
        hits[of] += Hits(40) && Hits(5000);
        ++done;
      }
    });
  }
  const auto finish = [&](int of) {
    while (done.load() < kThreads * (of + 1)) std::this_thread::yield();
  };
  finish(0);
  CloseAllHitPaths();
  EXPECT_FALSE(Hits(40));
  phase = 1;
  finish(1);
  OpenAllHitPaths();
  EXPECT_TRUE(Hits(40));
  phase = 2;
  finish(2);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(hits[0], kThreads);
  EXPECT_EQ(hits[1], 0);
  EXPECT_EQ(hits[2], kThreads);
  ExpectValidHeap();
}

// Threads that come, go and work while the switch goes to and fro: nothing is lost, and at the end all is as it was.
TEST(HitSwitchTest, Storm) {
  std::atomic<int> left{300};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&left, t] {
      while (--left > 0) {
        std::thread([t] {
          std::vector<char*> blocks;
          for (int i = 0; i < 2000; ++i) {
            const size_t bytes = static_cast<size_t>((i * 37 + t) % 3000);
            auto* p = static_cast<char*>(Allocate(bytes));
            memset(p, t, bytes);
            blocks.push_back(p);
            if (i % 3 == 0) {
              Free(blocks.front());
              blocks.erase(blocks.begin());
            }
          }
          for (char* p : blocks) Free(p);
        }).join();
      }
    });
  }
  while (left.load() > 0) {
    CloseAllHitPaths();
    OpenAllHitPaths();
  }
  for (std::thread& thread : threads) thread.join();
  // Idle memory of theirs would close the hit paths, where it took them long.
  Trim(0);
  EXPECT_TRUE(Hits(100));
  ExpectValidHeap();
}

TEST(HitSwitchTest, ClassZeroMakesSmallRequestsSlow) {
  alignas(kHitPageBytes) static char copy[kHitPageBytes];
  CopyHitPage(copy);
  EXPECT_EQ(memcmp(copy, HitPage(), kHitPageBytes), 0);
  EXPECT_TRUE(Hits(40));
  const HitTable table = GetHitTable();
  char* const classes = static_cast<char*>(HitPage()) + table.offset;
  memset(classes, 0, table.bytes);
  EXPECT_FALSE(Hits(40));
  EXPECT_FALSE(Hits(1024));
  EXPECT_FALSE(Hits(1025));
  EXPECT_FALSE(Hits(kMaxSmallBytes));
  CopyHitTable(classes);
  EXPECT_TRUE(Hits(1024));
  EXPECT_TRUE(Hits(1025));
  EXPECT_TRUE(Hits(kMaxSmallBytes));
  EXPECT_EQ(memcmp(copy, HitPage(), kHitPageBytes), 0);
}

TEST(HitSwitchTest, RecordsFromNowOn) {
  void* const before = Allocate(700);
  void* const large = Allocate(3 << 20);
  EXPECT_EQ(RecordOf(before), nullptr);
  EXPECT_EQ(RecordOf(large), nullptr);
  RecordFromNowOn(kRecordBytes);
  EXPECT_EQ(RecordOf(before), nullptr);

  // Whatever the memory held before, a record that nobody has written is zero.
  const char zeros[kRecordBytes] = {};
  std::vector<void*> blocks;
  for (int round = 0; round < 3; ++round) {
    for (size_t bytes : {16, 100, 700, 9000, 200000, 400000}) {
      for (int i = 0; i < 300; ++i) blocks.push_back(Allocate(bytes));
    }
    for (void* p : blocks) {
      void* const record = RecordOf(p) != nullptr ? RecordOf(p) : MakeRecord(p);
      ASSERT_NE(record, nullptr);
      EXPECT_EQ(record, RecordOf(p));
      EXPECT_EQ(memcmp(record, zeros, kRecordBytes), 0);
      memset(record, 0xee, kRecordBytes);
    }
    for (void* p : blocks) {
      memset(RecordOf(p), 0, kRecordBytes);
      Free(p);
    }
    blocks.clear();
    Trim(0);
  }
  EXPECT_EQ(memcmp(MakeRecord(before), zeros, kRecordBytes), 0);
  EXPECT_EQ(memcmp(MakeRecord(large), zeros, kRecordBytes), 0);
  EXPECT_EQ(MakeRecord(large), RecordOf(large));
  EXPECT_EQ(MakeRecord(static_cast<char*>(before) + 1), nullptr);
  int local;
  EXPECT_EQ(MakeRecord(&local), nullptr);

  RecordFromNowOn(0);
  void* const later = Allocate(5 << 20);
  EXPECT_EQ(RecordOf(later), nullptr);
  EXPECT_NE(RecordOf(before), nullptr);
  for (void* p : {before, large, later}) Free(p);
  Trim(0);
  ExpectValidHeap();
}

}  // namespace
}  // namespace mallow::heap
