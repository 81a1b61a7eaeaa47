#include "record/rule_cache.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <vector>

namespace mallow::record {
namespace {

// An id of all bits that one may have.
FrameId IdOf(FrameKey key) { return static_cast<FrameId>(key * 0x9e3779b1) >> (32 - kFrameIdBits); }

RuleEntry EntryOf(FrameKey key, int32_t cfa) {
  return RuleEntry::Of(key, IdOf(key), {cfa, -8, RuleKind::kSignal, Rule::kSignalFrame});
}

class RuleCacheTest : public ::testing::Test {
 protected:
  void TearDown() override { cache_.Clear(); }
  // The rules of all keys, and none of others.
  void Check(const std::unordered_map<FrameKey, int32_t>& model) {
    for (const auto& [key, cfa] : model) {
      const RuleEntry* entry = cache_.Find(key);
      ASSERT_NE(nullptr, entry);
      ASSERT_EQ(cfa, entry->rule.cfa);
      ASSERT_EQ(IdOf(key), entry->id());
      ASSERT_EQ(key, entry->key());
      ASSERT_EQ(RuleKind::kSignal, entry->rule.kind);
      ASSERT_TRUE(entry->rule.signal_frame());
      ASSERT_FALSE(entry->rule.saves_bp());
      for (const FrameKey other : {key ^ 1, key ^ kInterrupted, key + 256}) {
        const RuleEntry* const found = cache_.Find(other);
        ASSERT_EQ(model.contains(other), found != nullptr);
      }
    }
  }

  RuleCache cache_;
};

TEST_F(RuleCacheTest, IsEmptyAtFirst) { EXPECT_EQ(nullptr, cache_.Find(0x400100)); }

TEST_F(RuleCacheTest, FindsWhatLiesScattered) {
  std::mt19937_64 random(3);
  std::unordered_map<FrameKey, int32_t> model;
  for (int32_t i = 0; i < 50'000; i++) {
    const FrameKey key = 0x400000 + random() % (1 << 24);
    if (model.emplace(key, i).second) cache_.Add(EntryOf(key, i));
  }
  Check(model);
}

// Many more pcs in one small piece of code than a cache line has entries.
TEST_F(RuleCacheTest, FindsWhatLiesTogether) {
  std::unordered_map<FrameKey, int32_t> model;
  for (int32_t i = 0; i < 20'000; i++) {
    const FrameKey key = (0x400000 + static_cast<FrameKey>(i)) | (i % 3 == 0 ? kInterrupted : 0);
    model.emplace(key, i);
    cache_.Add(EntryOf(key, i));
  }
  Check(model);
}

TEST_F(RuleCacheTest, BeginsAnewWhenItWouldBecomeTooLarge) {
  for (FrameKey key = 1; key <= 600'000; key++) cache_.Add(EntryOf(key << 4, 1));
  EXPECT_NE(nullptr, cache_.Find(600'000 << 4));
  EXPECT_EQ(nullptr, cache_.Find(1 << 4));
}

// Whatever a chain says of a key is what the table says, chains that follow one another come to be one, and the table keeps
// what it has.
TEST_F(RuleCacheTest, ChainsSayWhatTheTableSays) {
  std::mt19937_64 random(5);
  std::unordered_map<FrameKey, int32_t> model;
  std::vector<FrameKey> keys;
  EXPECT_EQ(nullptr, cache_.ChainOf(0x400000));
  const auto key_at = [&](size_t i) {
    while (keys.size() <= i) {
      keys.push_back(0x400000 + random() % (1 << 24));
      if (model.emplace(keys.back(), static_cast<int32_t>(keys.size())).second)
        cache_.Add(EntryOf(keys.back(), model[keys.back()]));
    }
    return keys[i];
  };
  key_at(0);
  size_t followed = 0, steps = 0;
  for (size_t walk = 0; walk < 3'000; ++walk) {
    RuleEntry* next = nullptr;
    // Callers are mostly the same again, and now and then another one, or the function itself.
    for (size_t i = random() % 64; i < 60 + walk / 50;) {
      const size_t known = keys.size();
      const FrameKey key = key_at(i);
      if (keys.size() != known) next = nullptr;  // the table may lie elsewhere
      const RuleEntry* rule = next;
      ++steps;
      if (!RuleCache::IsEndOfChain(next) && next->key() == key) {
        ++followed;
        ++next;
      } else {
        RuleEntry* const chain = cache_.ChainOf(key);
        ASSERT_TRUE(RuleCache::IsEndOfChain(chain)) << "chains begin where others end";
        if (chain->key() != key) RuleCache::BeginChain(chain, *cache_.Find(key));
        RuleCache::GoOnAs(next, chain);
        rule = chain;
        next = chain + 1;
      }
      ASSERT_EQ(key, rule->key());
      ASSERT_EQ(model[key], rule->rule.cfa);
      ASSERT_EQ(IdOf(key), rule->id());
      const unsigned way = random() % 16;
      i += way == 0 ? 0 : way == 1 ? 20 : 1;
    }
  }
  EXPECT_GT(followed * 5, steps * 2);
  Check(model);
}

}  // namespace
}  // namespace mallow::record
