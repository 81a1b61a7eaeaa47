#include "record/traits.h"

#include <gtest/gtest.h>
#include <string.h>

#include <random>
#include <vector>

#include "record/counting.h"
#include "record/process.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

TEST(StudyTest, FirstCallsAllThenOneInSixteenThenOneIn128) {
  uint64_t weights = 0, last = 0, widest = 0, even = 0;
  // By how much sums of weights may be wrong.
  const auto error = [](uint64_t call) { return call <= kManyCalls ? 100.0 : 300.0; };
  for (uint64_t call = 1; call <= 1'000'000; call++) {
    const Study study = StudyOf(call);
    ASSERT_EQ(call <= kYoungCalls, study == Study::kYoung);
    if (study == Study::kNone) continue;
    weights += WeightOf(study);
    if (call % 2 == 0) even += WeightOf(study);
    widest = std::max(widest, call - last);
    last = call;
    ASSERT_NEAR(static_cast<double>(weights), static_cast<double>(call), error(call)) << call;
    if (call <= kManyCalls) {
      ASSERT_LE(widest, 21u);
    }
  }
  EXPECT_EQ(233u, widest);
  // A program that does one thing at even calls and another at odd ones is seen as it is.
  EXPECT_NEAR(500'000.0, static_cast<double>(even), 500);
}

// A process is recorded once: the tests share one recording.
class TraitsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TestFolder;
    ASSERT_TRUE(g_process.Start(folder_->path(), 0));
  }
  static void TearDownTestSuite() { delete folder_; }

  void SetUp() override {
    static uintptr_t stacks = 0;
    for (StackId& stack : stacks_) {
      const NodeId node = g_process.stacks().Child(kRoot, 0x400000 + ++stacks, 0);
      stack = g_process.stacks().AddStack(node, Function::kMalloc, false);
    }
    thread_.last_born = thread_.last_freed = thread_.run = 0;
  }

  Tag Birth(int stack, uint64_t bytes = 10) {
    return Counting(thread_).Birth(stacks_[stack], bytes, (bytes + 15) / 16 * 16);
  }
  void Death(const Tag& tag, uintptr_t pc = kFirstCaller) {
    Counting(thread_).Death(tag, nullptr, Counting::Release::kFree, pc);
  }
  bool IsWide(int stack) { return thread_.TraitsOf(stacks_[stack])->studied == Traits::kWide; }
  WideTraits TraitsOf(int stack) {
    const Traits& traits = *thread_.TraitsOf(stacks_[stack]);
    return IsWide(stack) ? *thread_.WideTraitsAt(traits.first_ms) : Widened(traits);
  }

  void NoteLongRunOf(int stack, uint32_t run) {
    thread_.run = run;
    NoteLongRun(thread_, stacks_[stack]);
  }

  static constexpr uintptr_t kFirstCaller = 0x500000, kSecondCaller = 0x600000;
  static inline TestFolder* folder_;
  ThreadRecorder& thread_ = *g_process.Current();
  StackId stacks_[4];
};

void ExpectVote(uint32_t candidate, uint32_t lead, const Vote<uint32_t>& vote) {
  EXPECT_EQ(candidate, uint32_t{vote.candidate});
  EXPECT_EQ(lead, uint32_t{vote.lead});
}

TEST_F(TraitsTest, RunsAndPartners) {
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 3; i++) Birth(0);
    Birth(1);
  }
  EXPECT_EQ(15u, TraitsOf(0).studied);
  EXPECT_EQ(5u, TraitsOf(0).runs);
  EXPECT_EQ(3u, TraitsOf(0).longest_run);
  ExpectVote(StackIndex(stacks_[1]), 3, TraitsOf(0).born_after);  // once after nothing
  EXPECT_EQ(5u, TraitsOf(1).runs);
  EXPECT_EQ(1u, TraitsOf(1).longest_run);
  ExpectVote(StackIndex(stacks_[0]), 5, TraitsOf(1).born_after);
}

TEST_F(TraitsTest, LongRunIsExactOnceItEnded) {
  for (int i = 0; i < 1000; i++) Birth(0);
  EXPECT_GE(TraitsOf(0).longest_run, 980u);
  Birth(1);
  EXPECT_EQ(1000u, TraitsOf(0).longest_run);
}

TEST_F(TraitsTest, SizesAndCallersByMajority) {
  std::vector<Tag> tags;
  for (int i = 0; i < 30; i++) tags.push_back(Birth(0, i % 3 == 0 ? 7 : 100));
  ExpectVote(100, 10, TraitsOf(0).size);
  for (int i = 0; i < 30; i++) Death(tags[i], i < 12 ? kFirstCaller : kSecondCaller);
  const NodeId second = thread_.CallerAt(kSecondCaller).node;
  EXPECT_NE(second, thread_.CallerAt(kFirstCaller).node);
  ExpectVote(second, 6, TraitsOf(0).freed_by);
  EXPECT_EQ(30u, TraitsOf(0).studied_deaths);
  EXPECT_EQ(1u, TraitsOf(0).death_runs);
  Birth(1, uint64_t{1} << 40);
  ExpectVote(~uint32_t{0}, 1, TraitsOf(1).size);
}

TEST_F(TraitsTest, PartnersAtDeath) {
  std::vector<Tag> tags;
  for (int i = 0; i < 10; i++) {
    tags.push_back(Birth(0));
    tags.push_back(Birth(1));
  }
  for (const Tag& tag : tags) Death(tag);
  EXPECT_EQ(10u, TraitsOf(1).death_runs);
  ExpectVote(StackIndex(stacks_[0]), 10, TraitsOf(1).freed_after);
  ExpectVote(StackIndex(stacks_[1]), 8, TraitsOf(0).freed_after);
}

TEST_F(TraitsTest, LifetimesByLogarithm) {
  for (int others : {0, 1, 2, 3, 6, 7, 100}) {
    const Tag tag = Birth(0);
    for (int i = 0; i < others; i++) Birth(1);
    Death(tag);
  }
  const WideTraits traits = TraitsOf(0);
  const std::vector<uint32_t> expected = {1, 2, 2, 1, 0, 0, 1};
  for (size_t i = 0; i < kLifetimes; i++)
    EXPECT_EQ(i < expected.size() ? expected[i] : 0, traits.lifetimes[i]) << i;
}

// Each length is told from the others that lie in the same bytes, and the last has all that are longer.
TEST_F(TraitsTest, LifetimesOfAllLengths) {
  for (size_t i = 0; i < 60; i++)
    NoteDeath(thread_, stacks_[0], 0, uint64_t{1} << i, 1, kFirstCaller, Study::kYoung);
  ASSERT_FALSE(IsWide(0));
  for (int again = 0; again < 2; again++) {
    const WideTraits traits = TraitsOf(0);
    EXPECT_EQ(60u, traits.studied_deaths);
    for (size_t i = 0; i < kLifetimes; i++) EXPECT_EQ(i < 31 ? 1u : 29u, traits.lifetimes[i]) << i;
    EXPECT_EQ(0, memcmp(thread_.TraitsOf(stacks_[0])->reallocs, "\0\0", 3));
    if (again == 0) {
      NoteLongRunOf(0, 1000);
      ASSERT_TRUE(IsWide(0));
    }
  }
  EXPECT_EQ(1000u, TraitsOf(0).longest_run);
}

TEST_F(TraitsTest, BecomeWideAndLoseNothing) {
  constexpr uint32_t kDeaths = 200'000;
  WideTraits before = {};
  for (uint32_t i = 0; i < kDeaths; i++) {
    Death(Birth(0, 24));
    if (!IsWide(0)) before = TraitsOf(0);
  }
  EXPECT_EQ(kYoungCalls, before.studied);
  EXPECT_EQ(kYoungCalls, before.lifetimes[0]);
  const WideTraits traits = TraitsOf(0);
  EXPECT_NEAR(kDeaths, traits.studied, 300);
  EXPECT_EQ(before.first_ms, traits.first_ms);
  EXPECT_EQ(traits.studied, traits.lifetimes[0]);
  EXPECT_EQ(traits.studied, traits.studied_deaths);
  ExpectVote(24, traits.studied, traits.size);
}

// What many threads have made one releases, of each the first calls.
TEST_F(TraitsTest, ManyDeathsOfFewCalls) {
  for (uint32_t i = 1; i <= 1000; i++) {
    NoteDeath(thread_, stacks_[0], 0, 0, 1, kFirstCaller, Study::kYoung);
    ASSERT_EQ(i, TraitsOf(0).studied_deaths);
  }
  ExpectVote(thread_.CallerAt(kFirstCaller).node, 1000, TraitsOf(0).freed_by);
}

// Every third block goes another way, at every call that is looked at or not.
TEST_F(TraitsTest, EstimatesKeepStepWithNoPeriod) {
  constexpr uint32_t kCalls = 100'000;
  for (uint32_t i = 0; i < kCalls; i++) {
    Death(Birth(0, i % 4 == 0 ? 8 : 16));
    if (i % 2 == 0) Birth(1);
  }
  const WideTraits traits = TraitsOf(0);
  EXPECT_NEAR(kCalls, traits.studied, 300);
  EXPECT_NEAR(kCalls / 2, traits.runs, 300);
  EXPECT_EQ(16u, uint32_t{traits.size.candidate});
  EXPECT_LE(uint32_t{traits.size.lead}, kCalls * 3 / 4 + 300);
  EXPECT_GE((kCalls + traits.size.lead) / 2, kCalls * 3 / 4 - 300);
}

// Two that take turns stay known, wherever they lie.
TEST_F(TraitsTest, TheLatestTwoCallersAreKnown) {
  std::mt19937 random(1);
  uintptr_t before = kFirstCaller;
  for (int i = 0; i < 20'000; i++) {
    const uintptr_t caller = kSecondCaller + random();
    const NodeId node = thread_.CallerAt(before).node;
    thread_.CallerAt(caller);
    ASSERT_NE(nullptr, thread_.KnownCaller(before)) << i;
    ASSERT_EQ(node, thread_.KnownCaller(before)->node);
    ASSERT_NE(node, thread_.KnownCaller(caller)->node);
    before = caller;
  }
}

TEST_F(TraitsTest, Reallocs) {
  NoteRealloc(thread_, stacks_[0], stacks_[1], 10, 100, true, true);
  NoteRealloc(thread_, stacks_[0], stacks_[0], 100, 30, true, false);
  NoteRealloc(thread_, stacks_[0], stacks_[0], 30, 30, false, false);
  const Reallocs& reallocs = *thread_.ReallocsOf(stacks_[0]);
  EXPECT_EQ(3u, reallocs.resized);
  EXPECT_EQ(1u, reallocs.grown);
  EXPECT_EQ(1u, reallocs.shrunk);
  EXPECT_EQ(2u, reallocs.moved);
  EXPECT_EQ(10u, reallocs.bytes_copied);
  EXPECT_EQ(2u, reallocs.chained);
  EXPECT_EQ(StackIndex(stacks_[0]), reallocs.stack);
}

// Only stacks with reallocs take room for them, one beside the other, whatever becomes of their traits.
TEST_F(TraitsTest, ReallocsLieSideBySide) {
  Reallocs* const first = thread_.ReallocsOf(stacks_[3]);
  Reallocs* const second = thread_.ReallocsOf(stacks_[1]);
  EXPECT_EQ(StackIndex(stacks_[3]), first->stack);
  EXPECT_EQ(StackIndex(stacks_[1]), second->stack);
  EXPECT_EQ(thread_.realloc_count % kCountersPerPage == 1, second != first + 1);
  for (size_t i = 0; i < 60; i++)
    NoteDeath(thread_, stacks_[3], 0, uint64_t{1} << i, 1, kFirstCaller, Study::kYoung);
  EXPECT_EQ(first, thread_.ReallocsOf(stacks_[3]));
  NoteLongRunOf(3, 1000);
  ASSERT_TRUE(IsWide(3));
  EXPECT_EQ(first, thread_.ReallocsOf(stacks_[3]));
  EXPECT_EQ(second, thread_.ReallocsOf(stacks_[1]));
}

TEST_F(TraitsTest, ReallocsOfManyStacks) {
  std::vector<StackId> stacks;
  for (uintptr_t i = 0; i < 3 * ThreadRecorder::kRecentReallocs; i++) {
    const NodeId node = g_process.stacks().Child(kRoot, 0x700000 + i, 0);
    stacks.push_back(g_process.stacks().AddStack(node, Function::kRealloc, false));
  }
  const uint32_t before = thread_.realloc_count;
  for (int again = 0; again < 2; again++) {
    for (const StackId stack : stacks) {
      ASSERT_EQ(StackIndex(stack), thread_.ReallocsOf(stack)->stack);
      ASSERT_EQ(thread_.ReallocsOf(stack), thread_.ReallocsOf(stack));
    }
    EXPECT_EQ(stacks.size(), thread_.realloc_count - before);
  }
}

}  // namespace
}  // namespace mallow::record
