#include "record/counting.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "base/stepped_test.h"
#include "record/process.h"
#include "record/recorder.h"
#include "record/test_folder.h"
#include "record/thread_counts.h"

namespace mallow::record {
namespace {

constexpr int kStacks = 200;  // four pages of counters

// What a reader makes of the recording; see "The peak" in format/recording.md.
struct Sums {
  uint64_t calls = 0, releases = 0, waste = 0, temporary = 0, short_lived = 0, foreign = 0;
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
    const bool saved_counts = First().at_peak == 0 && !Pending(&Shard::peak_bytes, LiveSum());
    const auto* directory = file.Items<PageDirectoryEntry>(Section::kPageDirectory);
    Sums sums;
    for (uint64_t page = 0; page < file.Used(Section::kCounterPages); page++) {
      if (directory[page].first_stack_by_64 != StackIndex(stack) / kCountersPerPage) continue;
      const auto kind = static_cast<CounterKind>(directory[page].shard_and_kind >> 24);
      const uint64_t item = page * kCountersPerPage + StackIndex(stack) % kCountersPerPage;
      if (kind == CounterKind::kRareCounts) {
        const auto units = [](uint64_t carried) { return carried << RareCounts::kCarriedBits; };
        const RareCounts& rare = file.Items<RareCounts>(Section::kCounterPages)[item];
        sums.calls += units(rare.calls);
        sums.releases += units(rare.releases);
        sums.waste += units(rare.waste);
        sums.temporary += units(rare.temporary);
        sums.short_lived += units(rare.short_lived);
        sums.foreign += units(rare.foreign);
      }
      if (kind != CounterKind::kCounts) continue;
      const Counts& counts = file.Items<Counts>(Section::kCounterPages)[item];
      const auto live_bytes = static_cast<int64_t>(counts.bytes - counts.released_bytes);
      sums.calls += counts.calls;
      sums.releases += counts.releases;
      sums.waste += counts.waste;
      sums.live_bytes += live_bytes;
      sums.bytes_at_peak +=
          counts.peak_epoch == epoch && saved_counts ? counts.live_bytes_at_peak : live_bytes;
      sums.temporary += counts.temporary;
      sums.short_lived += counts.short_lived;
      sums.foreign += counts.foreign;
    }
    return sums;
  }

  const Shard& First() { return *process_.file().Items<Shard>(Section::kShards); }
  // Sums that no death has looked at yet are peaks, too.
  int64_t LiveSum() { return First().live_bytes + process_.header().shared_live; }
  int64_t LiveSumProgram() {
    const Shard& first = First();
    return std::min(first.live_bytes - first.live_bytes_libc + process_.header().shared_live_program,
                    LiveSum());
  }
  bool Pending(uint64_t Shard::*peak, int64_t sum) {
    const uint64_t shared =
        peak == &Shard::peak_bytes ? process_.header().shared_peak : process_.header().shared_peak_program;
    return sum > static_cast<int64_t>(std::max(First().*peak, shared));
  }
  int64_t Peak(uint64_t Shard::*peak, int64_t sum) {
    return Pending(peak, sum) ? sum : static_cast<int64_t>(First().*peak);
  }

  // What there is then is the greatest sum.
  void ForgetPeak() {
    process_.header().shared_peak = process_.header().shared_peak_program = 0;
    process_.file().Items<Shard>(Section::kShards)->peak_bytes = 0;
    process_.file().Items<Shard>(Section::kShards)->peak_bytes_program = 0;
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
  int64_t peak = Peak(&Shard::peak_bytes, LiveSum());
  int64_t peak_program = Peak(&Shard::peak_bytes_program, LiveSumProgram());
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
    ASSERT_EQ(peak, Peak(&Shard::peak_bytes, LiveSum()));
    ASSERT_EQ(peak_program, Peak(&Shard::peak_bytes_program, LiveSumProgram()));
    for (int i = 0; i < kStacks; i++) {
      const Sums sums = Read(stacks_[i]);
      ASSERT_EQ(live[i], sums.live_bytes) << "stack " << i << " step " << step;
      ASSERT_EQ(at_peak[i], sums.bytes_at_peak) << "stack " << i << " step " << step;
    }
  }
}

TEST_F(CountingTest, LowerPeakOfTheFirstThreadLeavesThatOfOthers) {
  constexpr uint64_t kHigh = 1 << 30, kLow = 300 << 20;
  std::thread([this] {
    ThreadRecorder& other = *process_.Current();
    const Tag tag = Birth(other, stacks_[1], kHigh);
    Counting(other).Flush();
    Counting(other).Death(tag, nullptr, Counting::Release::kFree, 0);
    Counting(other).Flush();
  }).join();
  ThreadRecorder& first = *process_.Current();
  ASSERT_TRUE(first.is_first());
  const Tag tag = Birth(first, stacks_[2], kLow);
  EXPECT_EQ(kHigh, Read(stacks_[1]).bytes_at_peak);
  Counting(first).Death(tag, nullptr, Counting::Release::kFree, 0);
  EXPECT_EQ(kHigh, Read(stacks_[1]).bytes_at_peak);
  EXPECT_EQ(0, Read(stacks_[2]).bytes_at_peak);
}

// What the first thread gained since others looked is in the peak that one of them ends.
TEST_F(CountingTest, AnotherThreadEndsThePeak) {
  constexpr uint64_t kBytes = 1 << 30;
  Tag tag, others;
  ThreadRecorder& first = *process_.Current();
  std::thread([&] {
    ThreadRecorder& other = *process_.Current();
    others = Birth(other, stacks_[1], kBytes);
    Counting(other).Flush();
    tag = Birth(first, stacks_[2], kBytes);
    Counting(other).Death(others, nullptr, Counting::Release::kFree, 0);
    Counting(other).Flush();
  }).join();
  EXPECT_EQ(kBytes, Read(stacks_[1]).bytes_at_peak);
  EXPECT_EQ(kBytes, Read(stacks_[2]).bytes_at_peak);
  Counting(first).Death(tag, nullptr, Counting::Release::kFree, 0);
  EXPECT_EQ(kBytes, Read(stacks_[2]).bytes_at_peak);
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

TEST_F(CountingTest, FreeOfNullIsNoAllocation) {
  g_recording = true;
  ThreadRecorder& thread = *process_.Current();
  const auto allocations = [] {
    ThreadCounts counts;
    EXPECT_TRUE(CountThread(&counts));
    return counts.allocations;
  };
  const uint64_t before = allocations();
  Counting(thread).NullRelease(stacks_[6]);
  EXPECT_EQ(before, allocations());
  Birth(thread, stacks_[7], 1);
  EXPECT_EQ(before + 1, allocations());
  g_recording = false;
}

TEST_F(CountingTest, FreeOfNullWithoutRoomLeavesNothing) {
  ThreadRecorder& thread = *process_.Current();
  const uint32_t known = thread.KnownCountsOf(kNoStack)->calls;
  const uint64_t nulls = thread.shard->free_nulls;
  constexpr StackId kOnAnotherPage = 10'000;
  const uint64_t session = thread.session;
  thread.session = session + 1;  // as one that has ended: there is no room in it
  Counting(thread).NullRelease(kOnAnotherPage);
  thread.session = session;
  EXPECT_EQ(nullptr, thread.KnownCountsOf(kOnAnotherPage));
  EXPECT_EQ(known, thread.KnownCountsOf(kNoStack)->calls);
  EXPECT_EQ(nulls + 1, thread.shard->free_nulls);
}

// As hit.cc counts, which asks for room at the births alone that are studied.
TEST_F(CountingTest, GreatFiguresOfHitsAreCarried) {
  constexpr uint32_t kCalls = 20'000, kWaste = 1 << 18, kAlmostFull = (1u << 31) - 1;
  ThreadRecorder& thread = *process_.Current();
  const StackId stack = stacks_[3];
  Counts& counts = thread.CountsOf(stack);
  counts.calls = counts.releases = counts.waste = kAlmostFull;
  for (uint32_t i = 0; i < kCalls; i++) {
    Counting counting(thread);
    const StackId born_before = counting.CountRun(stack);
    const bool due = counting.CountBirth(counts, stack, 8u, 8 + kWaste);
    if (const Study study = StudyOf(counts.calls); due || study != Study::kNone)
      counting.NoteBirthOf(counts, stack, born_before, 8, study);
    counting.BeginDeath(8);
    counting.CountDeath(counts, stack, 8);
    ASSERT_GT(counts.calls, kYoungCalls);
  }
  const Sums sums = Read(stack);
  EXPECT_EQ(uint64_t{kAlmostFull} + kCalls, sums.calls);
  EXPECT_EQ(uint64_t{kAlmostFull} + kCalls, sums.releases);
  EXPECT_EQ(uint64_t{kAlmostFull} + uint64_t{kCalls} * kWaste, sums.waste);
}

TEST_F(CountingTest, GreatFiguresOfDeathsAreCarried) {
  constexpr uint32_t kAlmostFull = (1u << 31) - 1, kDeaths = 3;
  ThreadRecorder& thread = *process_.Current();
  const StackId stack = stacks_[4];
  Counts& counts = thread.CountsOf(stack);
  counts.releases = counts.temporary = counts.short_lived = counts.foreign = kAlmostFull;
  for (uint32_t i = 0; i < kDeaths; i++) {
    const Tag own =
        Tag::Of(stack, static_cast<uint32_t>(thread.shard->events), 8, thread.number, Study::kYoung);
    Counting(thread).Death(own, thread.newest_block, Counting::Release::kFree, 0);
    const Tag foreign = Tag::Of(stack, 0, 8, thread.number + 1, Study::kNone);
    Counting(thread).Death(foreign, nullptr, Counting::Release::kFree, 0);
    counts.releases += i == 0 ? 1u << 30 : 0;
  }
  const Sums sums = Read(stack);
  EXPECT_EQ(uint64_t{kAlmostFull} + 2 * kDeaths + (1u << 30), sums.releases);
  EXPECT_EQ(uint64_t{kAlmostFull} + kDeaths, sums.temporary);
  EXPECT_EQ(uint64_t{kAlmostFull} + kDeaths, sums.short_lived);
  EXPECT_EQ(uint64_t{kAlmostFull} + kDeaths, sums.foreign);
}

TEST_F(CountingTest, HugeBlocksAndRareEvents) {
  constexpr uint64_t kGiB = 1 << 30;
  ThreadRecorder& thread = *process_.Current();
  const StackId stack = stacks_[5];
  for (const uint64_t bytes : {6 * kGiB, 5 * kGiB, 7 * kGiB})
    Counting(thread).Birth(stack, bytes, bytes + 4096);
  const Tag tag = Counting(thread).Birth(stack, 8, 9 * kGiB);
  Counting(thread).Death(tag, nullptr, Counting::Release::kRealloc, 0);
  Counting(thread).Failure(stack);
  const Counts& counts = thread.CountsOf(stack);
  EXPECT_EQ(8u, counts.size_min);
  EXPECT_EQ(kHugeSize, counts.size_max);
  EXPECT_EQ(18 * kGiB + 8, counts.bytes);
  const RareCounts& rare = *thread.RareCountsOf(stack);
  EXPECT_EQ(5 * kGiB, rare.huge_min);
  EXPECT_EQ(7 * kGiB, rare.huge_max);
  EXPECT_EQ(1u, rare.failed);
  EXPECT_EQ(1u, thread.ReallocsOf(stack)->given_up);
  EXPECT_EQ(3 * 4096 + 9 * kGiB - 8, Read(stack).waste);
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

// Shorter than what it takes from one look at a figure of another thread to the next; a sanitizer's is several times as long.
constexpr size_t kStep = kSanitized ? 32 : 8;

// Others that hand over what they have while a thread is held up in a flush: the two never had it at once.
TEST_F(CountingTest, SumsOfDifferentMomentsAreNoPeak) {
  if (Stepped::kRefusal != nullptr) GTEST_SKIP() << Stepped::kRefusal;
  constexpr uint64_t kBytes = 4ull << 30;
  ThreadRecorder& first = *process_.Current();
  ASSERT_TRUE(first.is_first());
  std::thread([&] {
    ThreadRecorder& other = *process_.Current();
    std::thread([&] {
      ThreadRecorder& third = *process_.Current();
      const StackId stack = stacks_[1];
      const auto give = [&](ThreadRecorder& from, ThreadRecorder& to, const Tag& tag) {
        Counting(from).Death(tag, nullptr, Counting::Release::kFree, 0);
        return Birth(to, stack, kBytes);
      };
      const int64_t most = LiveSum() + kBytes + 4 * kFlushBytes;
      Tag tag = Birth(first, stack, kBytes);
      Tag change = {};
      bool interrupted = true;
      for (size_t at = 0; interrupted; at += kStep) {
        for (const int64_t bytes : {1, -1}) {
          if (bytes > 0) {
            change = Birth(other, stack, 1);
          } else {
            Counting(other).Death(change, nullptr, Counting::Release::kFree, 0);
          }
          interrupted = Stepped::InterruptAt(
              at, [&] { Counting(other).Flush(); }, [&] { tag = give(first, third, tag); });
          if (!interrupted) tag = give(first, third, tag);
          Counting(other).Flush();
          ASSERT_LE(static_cast<int64_t>(std::max(First().peak_bytes, process_.header().shared_peak)), most)
              << bytes << ", at " << at;
          tag = give(third, first, tag);
        }
      }
    }).join();
  }).join();
}

// The second thread of a process, while the first one frees what libc has allocated.
TEST_F(CountingTest, FirstBytesOfTheSecondThreadAreInThePeak) {
  if (Stepped::kRefusal != nullptr) GTEST_SKIP() << Stepped::kRefusal;
  constexpr uint64_t kBytes = 8ull << 30;
  ThreadRecorder& first = *process_.Current();
  std::thread([&] {
    ThreadRecorder& other = *process_.Current();
    const uint32_t threads = process_.header().most_threads;
    bool interrupted = true;
    ForgetPeak();
    for (size_t at = 0; interrupted; at += kStep) {
      const Tag libcs = Birth(first, stacks_[0], 100);
      process_.header().most_threads = 1;
      // From here on the limit is known, and far away.
      Counting(first).Death(Birth(first, stacks_[1], 2 * kBytes), nullptr, Counting::Release::kFree, 0);
      Tag others;
      const auto begin = [&] {
        process_.header().most_threads = threads;
        others = Birth(other, stacks_[1], 2 * kBytes);
      };
      interrupted = Stepped::InterruptAt(
          at, [&] { Counting(first).Death(libcs, nullptr, Counting::Release::kFree, 0); }, begin);
      if (!interrupted) begin();
      const Tag firsts = Birth(first, stacks_[1], kBytes), small = Birth(first, stacks_[1], 100);
      const int64_t sum = LiveSum();
      Counting(first).Death(small, nullptr, Counting::Release::kFree, 0);
      ASSERT_EQ(First().peak_bytes, sum) << "at " << at;
      Counting(first).Death(firsts, nullptr, Counting::Release::kFree, 0);
      Counting(other).Death(others, nullptr, Counting::Release::kFree, 0);
      ForgetPeak();
    }
  }).join();
}

}  // namespace
}  // namespace mallow::record
