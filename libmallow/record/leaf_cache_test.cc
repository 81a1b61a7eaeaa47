#include "record/leaf_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace mallow::record {
namespace {

constexpr unsigned kShort = 1, kMiddle = 5, kLong = LeafEntry::kMostGroups;

class LeafCacheTest : public testing::Test {
 protected:
  LeafCacheTest() { EXPECT_TRUE(cache_.MakeReady()); }
  ~LeafCacheTest() override { cache_.Clear(); }

  // An entry all of whose words say whose it is.
  void Make(uintptr_t sp, unsigned groups) {
    LeafEntry* const entry = cache_.MakeRoomAt(LeafCache::First(kKey, sp), kKey, sp, groups);
    entry->key = kKey;
    entry->sp = sp;
    entry->groups = static_cast<uint8_t>(groups);
    for (unsigned group = 0; group < groups; ++group) {
      for (uintptr_t& value : entry->words()[group].values) value = sp;
      for (uint16_t& place : entry->words()[group].places) place = 1;
    }
  }
  LeafEntry& At(uintptr_t sp) { return *cache_.At(LeafCache::First(kKey, sp)); }
  // Its length, if it is there and whole; 0: it is not there.
  unsigned Find(uintptr_t sp) const {
    const LeafEntry* const entry = cache_.At(LeafCache::First(kKey, sp));
    if (entry == nullptr || !entry->BeginsAt(kKey, sp)) return 0;
    for (unsigned group = 0; group < entry->group_count(); ++group) {
      for (const uintptr_t value : entry->words()[group].values) EXPECT_EQ(value, sp) << "group " << group;
    }
    return entry->group_count();
  }

  static constexpr FrameKey kKey = 0x401234;
  LeafCache cache_;
};

TEST_F(LeafCacheTest, AnEntryIsAsLongAsItWasMade) {
  Make(0x7000, kShort);
  Make(0x8000, kLong);
  EXPECT_EQ(Find(0x7000), kShort);
  EXPECT_EQ(Find(0x8000), kLong);
  Make(0x7000, kLong);
  Make(0x8000, kShort);
  EXPECT_EQ(Find(0x7000), kLong);
  EXPECT_EQ(Find(0x8000), kShort);
  EXPECT_EQ(Find(0x9000), 0u);
}

TEST_F(LeafCacheTest, WhatItHoldsIsWholeHoweverMuchComes) {
  std::mt19937 random(1);
  std::map<uintptr_t, unsigned> made;
  for (int i = 0; i < 100'000; ++i) {
    const uintptr_t sp = 0x7fff'0000'0000 + random() % 20'000 * 16;
    const unsigned groups = random() % 8 == 0 ? 1 + random() % kLong : kShort;
    Make(sp, groups);
    made[sp] = groups;
    ASSERT_EQ(Find(sp), groups);
  }
  size_t kept = 0;
  for (const auto& [sp, groups] : made) {
    const unsigned found = Find(sp);
    if (found == 0) continue;
    EXPECT_EQ(found, groups);
    ++kept;
  }
  // As large as it becomes it has room for 10,000 entries of these lengths, and 8,192 slots, some of which are late.
  EXPECT_GT(kept, 5500u);
  EXPECT_LE(kept, 8192u);
}

TEST_F(LeafCacheTest, AnEntryMadeAnewTakesNoMoreRoom) {
  constexpr uintptr_t kCount = 20;
  for (uintptr_t i = 1; i <= kCount; ++i) Make(i * 0x1000, kMiddle);
  size_t kept = 0;
  for (uintptr_t i = 1; i <= kCount; ++i) kept += Find(i * 0x1000) != 0;
  for (unsigned again = 0; again < 100'000; ++again) Make(0x1000, kMiddle);
  for (uintptr_t i = 2; i <= kCount; ++i) kept -= Find(i * 0x1000) != 0;
  EXPECT_EQ(kept, 1u);
}

// What lies in a line may be another entry by the time, or the rest of one, which is none.
TEST_F(LeafCacheTest, TheNextOfAnEntryIsOneThatBeginsThereNowOrOfNoCode) {
  std::mt19937 random(2);
  constexpr uintptr_t kEntry = 0x7000, kOthers = 0x10'0000;
  constexpr uint32_t kPast = 0x1234'5678;
  constexpr unsigned kCount = 6000;  // some 24,000 lines of 32,768
  const auto other = [](unsigned i) { return kOthers + i * 16; };
  unsigned same = 0, none = 0, another = 0;
  for (int round = 0; round < 300; ++round) {
    Make(kEntry, kShort);
    const uintptr_t next = other(random() % kCount);
    Make(next, random() % 2 == 0 ? kShort : kMiddle);
    if (Find(kEntry) == 0) continue;
    cache_.SetNext(kPast, At(kEntry), At(next));
    for (int i = 0; i < 2000; ++i) Make(other(random() % kCount), random() % 2 == 0 ? kShort : kMiddle);
    if (Find(kEntry) == 0) continue;
    const LeafEntry* const found = cache_.NextOf(kPast, At(kEntry));
    if (found->key == 0 || found->key >= kPcLimit) {
      ++none;
      continue;
    }
    bool is_entry = false;
    for (unsigned i = 0; i < kCount && !is_entry; ++i)
      is_entry = Find(other(i)) != 0 && found == &At(other(i));
    EXPECT_TRUE(is_entry) << "round " << round;
    ++(Find(next) != 0 && found == &At(next) ? same : another);
  }
  EXPECT_GT(same, 3u);
  EXPECT_GT(none, 3u);
  EXPECT_GT(another, 3u);
}

// In A B A C A B A C the entry A alone cannot tell what comes.
TEST_F(LeafCacheTest, WhatComesNextIsToldByMoreThanTheNewestEntry) {
  constexpr uintptr_t kOrder[] = {0x7000, 0x8000, 0x7000, 0x9000};
  for (const uintptr_t sp : kOrder) {
    Make(sp, kShort);
    At(sp).node = static_cast<NodeId>(sp >> 12);
  }
  uint32_t past = 0;
  LeafEntry* newest = &At(kOrder[0]);
  unsigned wrong = 0, early = 0;
  for (int i = 1; i < 400; ++i) {
    LeafEntry& next = At(kOrder[i % 4]);
    past = LeafCache::PastWith(past, *newest);
    if (cache_.NextOf(past, *newest) != &next) {
      ++(i < 40 ? early : wrong);
      cache_.SetNext(past, *newest, next);
    }
    newest = &next;
  }
  EXPECT_GT(early, 0u);
  EXPECT_EQ(wrong, 0u);
}

TEST_F(LeafCacheTest, AfterANewPastComesWhatCameAfterTheEntry) {
  for (const uintptr_t sp : {0x7000, 0x8000, 0x9000}) Make(sp, kShort);
  LeafEntry& entry = At(0x7000);
  cache_.SetNext(1u << 31, entry, At(0x8000));
  cache_.SetNext(1u << 30, entry, At(0x9000));
  EXPECT_EQ(cache_.NextOf(1u << 31, entry), &At(0x8000));
  EXPECT_EQ(cache_.NextOf(1u << 30, entry), &At(0x9000));
  EXPECT_EQ(cache_.NextOf(1u << 30 | 0xfffff, entry), &At(0x9000));
}

TEST_F(LeafCacheTest, GrowthLosesNothingThatIsThere) {
  size_t most = 0, before = 0;
  for (uintptr_t sp = 0; sp < 60'000 * 16; sp += 16) {
    Make(sp, kShort);
    size_t kept = 0;
    if (sp % 8192 != 0) continue;
    for (uintptr_t earlier = 0; earlier <= sp; earlier += 16) kept += Find(earlier) != 0;
    // Each that came meanwhile may have driven one out of its slot and overwritten one, if none is lost.
    EXPECT_GE(kept + 2 * 512, before);
    before = kept;
    most = kept > most ? kept : most;
  }
  EXPECT_GT(most, 6000u);
}

}  // namespace
}  // namespace mallow::record
