#include "heap/statistics.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "heap/heap.h"
#include "heap/heap_checks.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

// What must hold whenever no other thread is inside the heap.
void ExpectSumsToHold(const Statistics& total) {
  ASSERT_EQ(total.system_bytes, total.in_use_bytes + total.free_bytes() + total.tail_bytes);
  ASSERT_LE(total.returned_bytes, total.page_heap_bytes);
  uint64_t blocks = total.large_blocks;
  uint64_t in_use = total.large_bytes;
  uint64_t cached = total.kept_large_bytes;
  for (SizeClass c = 1; c < kClassCount; ++c) {
    const ClassStatistics& objects = total.classes[c];
    ASSERT_EQ(objects.spans * Info(c).objects, objects.in_use + objects.free()) << "class " << c;
    blocks += objects.in_use;
    in_use += objects.in_use * Info(c).bytes;
    cached += objects.in_thread_caches * Info(c).bytes;
  }
  ASSERT_EQ(blocks, total.in_use_blocks);
  ASSERT_EQ(in_use, total.in_use_bytes);
  ASSERT_EQ(cached, total.thread_cache_bytes);
}

// Live blocks and what they add up to.
class Blocks {
 public:
  explicit Blocks(uint64_t seed) : random_(seed) {}
  ~Blocks() {
    while (!live_.empty()) FreeAny();
  }

  void Step() {
    const uint64_t choice = random_() % 16;
    if (live_.empty() || choice < 7) return AllocateAny();
    if (choice < 13) return FreeAny();
    if (choice < 15) return ResizeAny();
    if (random_() % 16 == 0) Trim(random_() % (4 << 20));
  }

  size_t count() const { return live_.size(); }
  uint64_t usable_bytes() const { return usable_bytes_; }

 private:
  size_t AnySize() {
    const size_t most = size_t{1} << (4 + random_() % 18);
    return random_() % most;
  }

  void AllocateAny() {
    void* p =
        random_() % 8 == 0 ? AllocateAligned(size_t{16} << random_() % 10, AnySize()) : Allocate(AnySize());
    ASSERT_NE(p, nullptr);
    usable_bytes_ += UsableBytes(p);
    live_.push_back(p);
  }

  void FreeAny() {
    std::swap(live_[random_() % live_.size()], live_.back());
    usable_bytes_ -= UsableBytes(live_.back());
    Free(live_.back());
    live_.pop_back();
  }

  void ResizeAny() {
    void* p = live_[random_() % live_.size()];
    usable_bytes_ -= UsableBytes(p);
    ResizeInPlace(p, AnySize());
    usable_bytes_ += UsableBytes(p);
  }

  std::mt19937_64 random_;
  std::vector<void*> live_;
  uint64_t usable_bytes_ = 0;
};

void ExpectNothingInUse() {
  Trim(0);
  ExpectValidHeap();
  ExpectEmptyHeap();
}

TEST(Statistics, AddUpAfterEveryOperation) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Blocks blocks(seed);
    for (int step = 0; step < 10000; ++step) {
      blocks.Step();
      const Statistics total = GetStatistics();
      ExpectSumsToHold(total);
      ASSERT_EQ(total.in_use_bytes, blocks.usable_bytes()) << "seed " << seed << ", step " << step;
      ASSERT_EQ(total.in_use_blocks, blocks.count());
    }
  }
  ExpectNothingInUse();
}

TEST(Statistics, AddUpWhileThreadsAreAtRest) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 50;
  std::vector<Blocks> blocks;
  for (uint64_t i = 0; i < kThreads; ++i) blocks.emplace_back(i + 10);
  std::barrier rest(kThreads + 1);
  std::vector<std::thread> threads;
  for (Blocks& own : blocks) {
    threads.emplace_back([&own, &rest] {
      for (int round = 0; round < kRounds; ++round) {
        for (int step = 0; step < 100; ++step) own.Step();
        rest.arrive_and_wait();
        rest.arrive_and_wait();
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    rest.arrive_and_wait();
    const Statistics total = GetStatistics();
    ExpectSumsToHold(total);
    uint64_t usable = 0, count = 0;
    for (const Blocks& own : blocks) usable += own.usable_bytes(), count += own.count();
    EXPECT_EQ(total.in_use_bytes, usable);
    EXPECT_EQ(total.in_use_blocks, count);
    EXPECT_GE(total.thread_caches, static_cast<uint64_t>(kThreads));
    rest.arrive_and_wait();
  }
  for (std::thread& thread : threads) thread.join();
  // The blocks of threads that have ended.
  EXPECT_GT(GetStatistics().in_use_blocks, 0u);
  blocks.clear();
  ExpectNothingInUse();
}

TEST(Statistics, MayBeReadWhileThreadsRun) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    threads.emplace_back([&stop, seed] {
      Blocks blocks(seed * 12345);
      while (!stop) blocks.Step();
    });
  }
  for (int i = 0; i < 300; ++i) {
    const Statistics total = GetStatistics();
    ASSERT_LE(total.page_heap_bytes, total.system_bytes);
    ASSERT_LE(total.returned_bytes, total.page_heap_bytes);
    if (i % 50 == 0) Trim(0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  ExpectSumsToHold(GetStatistics());
  ExpectNothingInUse();
}

TEST(Statistics, KnowWhatMetadataTakes) {
  // A huge page would be resident as a whole.
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  Free(Allocate(1));
  const size_t before = page_heap.MetadataResidentBytes();
  EXPECT_GT(before, 0u);
  EXPECT_LE(before, RoundUp(GetStatistics().metadata_bytes + (1 << 20), os::PageSize()));
  constexpr size_t kBytes = 3 << 20;
  memset(page_heap.AllocateMetadata(kBytes, 64), 1, kBytes);
  EXPECT_GE(page_heap.MetadataResidentBytes(), before + kBytes);
  EXPECT_LE(page_heap.MetadataResidentBytes(), before + kBytes + 3 * os::PageSize());
}

TEST(Statistics, KnowWhereAFreeBlockWaits) {
  ExpectNothingInUse();
  void* small = Allocate(1000);
  const SizeClass size_class = SizeClassOf(1000);
  Statistics total = GetStatistics();
  EXPECT_EQ(total.classes[size_class].in_use, 1u);
  EXPECT_EQ(total.classes[size_class].spans, 1u);
  EXPECT_GT(total.classes[size_class].in_central_list, 0u);
  const uint64_t cached = total.classes[size_class].in_thread_caches;
  Free(small);
  EXPECT_EQ(GetStatistics().classes[size_class].in_thread_caches, cached + 1);

  void* large = Allocate(1 << 20);
  total = GetStatistics();
  EXPECT_EQ(total.large_blocks, 1u);
  EXPECT_EQ(total.large_bytes, 1u << 20);
  Free(large);
  total = GetStatistics();
  EXPECT_EQ(total.large_blocks, 0u) << "what a thread keeps for its next malloc is free";
  EXPECT_EQ(total.in_use_bytes, 0u);
  ExpectNothingInUse();
}

}  // namespace
}  // namespace mallow::heap
