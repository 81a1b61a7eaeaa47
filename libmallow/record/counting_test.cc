#include "record/counting.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "record/process.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

constexpr int kStacks = 200;  // four pages of counters

// What a reader makes of the recording; see "The peak" in format/recording.md.
struct Sums {
  uint64_t calls = 0, releases = 0, temporary = 0, short_lived = 0, foreign = 0;
  int64_t live_bytes = 0, bytes_at_peak = 0;
};

// A process is recorded once: the tests share one recording, and each has stacks of its own in it.
class CountingTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder;
    ASSERT_TRUE(g_process.Start(folder_->path(), 0));
  }
  static void TearDownTestSuite() { delete folder_; }

  void SetUp() override {
    static int tests = 0;
    tests++;
    for (int i = 0; i < kStacks; i++) {
      const NodeId node = process_.stacks().Child(kRoot, 0x400000 + tests * kStacks + i, 0);
      stacks_.push_back(process_.stacks().AddStack(node, Function::kMalloc, i % 5 == 0));
    }
  }

  Tag Birth(ThreadRecorder& thread, StackId stack, uint64_t bytes) {
    return Counting(thread).Birth(stack, bytes, (bytes + 15) / 16 * 16);
  }

  Sums Read(StackId stack) {
    MappedFile& file = process_.file();
    const uint64_t epoch = process_.header().peak_epoch;
    const bool saved_counts = process_.first().at_peak == 0;
    const auto* directory = file.Items<PageDirectoryEntry>(Section::kPageDirectory);
    Sums sums;
    for (uint64_t page = 0; page < file.Used(Section::kCounterPages); page++) {
      if (directory[page].first_stack_by_64 != StackIndex(stack) / kCountersPerPage) continue;
      char* at = file.Items<char>(Section::kCounterPages) + page * kCounterPageBytes +
                 StackIndex(stack) % kCountersPerPage * sizeof(Births);
      if (directory[page].shard_and_kind >> 24 == static_cast<uint32_t>(CounterKind::kBirths)) {
        const Births& births = *reinterpret_cast<Births*>(at);
        sums.calls += births.calls;
        sums.live_bytes += births.bytes;
        sums.bytes_at_peak +=
            births.peak_epoch == epoch && saved_counts ? births.bytes_at_peak : births.bytes;
      } else if (directory[page].shard_and_kind >> 24 == static_cast<uint32_t>(CounterKind::kDeaths)) {
        const Deaths& deaths = *reinterpret_cast<Deaths*>(at);
        sums.releases += deaths.releases;
        sums.live_bytes -= deaths.bytes;
        sums.bytes_at_peak -=
            deaths.peak_epoch == epoch && saved_counts ? deaths.bytes_at_peak : deaths.bytes;
        sums.temporary += deaths.temporary;
        sums.short_lived += deaths.short_lived;
        sums.foreign += deaths.foreign;
      }
    }
    return sums;
  }

  static inline TestFolder* folder_;
  Process& process_ = g_process;
  std::vector<StackId> stacks_;
};

TEST_F(CountingTest, PeakIsExactWithOneThread) {
  std::mt19937 random(3);
  struct Block {
    Tag tag;
    int stack;
  };
  std::vector<Block> blocks;
  std::vector<int64_t> live(kStacks), at_peak(kStacks);
  ThreadRecorder& thread = *process_.Current();
  int64_t sum = thread.shard->live_bytes, sum_program = sum - thread.shard->live_bytes_libc;
  auto peak = static_cast<int64_t>(thread.shard->peak_bytes);
  auto peak_program = static_cast<int64_t>(thread.shard->peak_bytes_program);
  for (int step = 0; step < 20'000; step++) {
    // Long waves up and down, so that there are many peaks and many steps below the highest.
    const bool up = blocks.empty() || random() % 100 < ((step / 1000) % 2 == 0 ? 60u : 42u);
    if (up) {
      const int stack = static_cast<int>(random() % kStacks);
      const uint64_t bytes = random() % 5000;
      blocks.push_back({Birth(thread, stacks_[stack], bytes), stack});
      live[stack] += static_cast<int64_t>(bytes);
      sum += static_cast<int64_t>(bytes);
      if (stack % 5 != 0) sum_program += static_cast<int64_t>(bytes);
      if (sum > peak) {
        peak = sum;
        at_peak = live;
      }
      peak_program = std::max(peak_program, sum_program);
    } else {
      const size_t victim = random() % blocks.size();
      const Block block = blocks[victim];
      blocks[victim] = blocks.back();
      blocks.pop_back();
      Counting(thread).Death(block.tag, nullptr, Counting::Release::kFree, 0);
      live[block.stack] -= static_cast<int64_t>(block.tag.size());
      sum -= static_cast<int64_t>(block.tag.size());
      if (block.stack % 5 != 0) sum_program -= static_cast<int64_t>(block.tag.size());
    }
    if (step % 997 != 0) continue;
    ASSERT_EQ(peak, static_cast<int64_t>(thread.shard->peak_bytes));
    ASSERT_EQ(peak_program, static_cast<int64_t>(thread.shard->peak_bytes_program));
    for (int i = 0; i < kStacks; i++) {
      const Sums sums = Read(stacks_[i]);
      ASSERT_EQ(live[i], sums.live_bytes) << "stack " << i << " step " << step;
      ASSERT_EQ(at_peak[i], sums.bytes_at_peak) << "stack " << i << " step " << step;
    }
  }
}

TEST_F(CountingTest, TemporaryAndShortLived) {
  ThreadRecorder& thread = *process_.Current();
  char blocks[3];
  thread.newest_block = &blocks[0];
  const Tag first = Birth(thread, stacks_[1], 10);
  Counting(thread).Death(first, &blocks[0], Counting::Release::kFree, 0);
  const Tag second = Birth(thread, stacks_[1], 10);
  thread.newest_block = &blocks[1];
  for (uint32_t i = 0; i < kShortLifeEvents - 1; i++) Birth(thread, stacks_[2], 1);
  thread.newest_block = &blocks[2];
  Counting(thread).Death(second, &blocks[1], Counting::Release::kFree, 0);
  const Tag third = Birth(thread, stacks_[1], 10);
  for (uint32_t i = 0; i <= kShortLifeEvents; i++) Birth(thread, stacks_[2], 1);
  Counting(thread).Death(third, &blocks[1], Counting::Release::kFree, 0);
  const Sums sums = Read(stacks_[1]);
  EXPECT_EQ(3u, sums.calls);
  EXPECT_EQ(3u, sums.releases);
  EXPECT_EQ(1u, sums.temporary);
  EXPECT_EQ(2u, sums.short_lived);
}

TEST_F(CountingTest, ThreadsSumUpAndThePeakErrorIsBounded) {
  constexpr int kThreads = 4, kBlocks = 5'000, kBytes = 1'000;
  std::vector<std::vector<Tag>> made(kThreads);
  std::vector<std::thread> threads;
  const int64_t before = process_.Current()->shard->live_bytes;
  std::atomic<int> ready{0};
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      ThreadRecorder& thread = *process_.Current();
      for (int i = 0; i < kBlocks; i++) made[t].push_back(Birth(thread, stacks_[i % kStacks], kBytes));
      ready++;
      while (ready < kThreads) std::this_thread::yield();
      // Each releases what its neighbour made.
      for (const Tag& tag : made[(t + 1) % kThreads]) {
        Counting(thread).Death(tag, nullptr, Counting::Release::kFree, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t calls = 0, releases = 0, foreign = 0;
  int64_t live = 0;
  for (StackId stack : stacks_) {
    const Sums sums = Read(stack);
    calls += sums.calls;
    releases += sums.releases;
    foreign += sums.foreign;
    live += sums.live_bytes;
  }
  EXPECT_EQ(uint64_t{kThreads} * kBlocks, calls);
  EXPECT_EQ(calls, releases);
  EXPECT_EQ(calls, foreign);
  EXPECT_EQ(0, live);
  const auto peak = static_cast<int64_t>(process_.header().shared_peak);
  const int64_t expected = before + int64_t{kThreads} * kBlocks * kBytes;
  EXPECT_LE(peak, expected);
  EXPECT_GE(peak + static_cast<int64_t>(process_.header().most_threads) * kFlushBytes, expected);
}

}  // namespace
}  // namespace mallow::record
