#include "record/recent_rules.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <random>
#include <vector>

namespace mallow::record {
namespace {

constexpr uintptr_t kCode = 0x400000;
uintptr_t g_tables = 3;

RecentRule RuleOf(uintptr_t start, uintptr_t end, int32_t cfa) {
  return {{start, end}, &g_tables, g_tables, 7, {cfa, 0, RuleKind::kFromSp, 0}};
}

const RecentRule* Find(const RecentRules& rules, uintptr_t address) {
  os::ReadablePages pages = {};
  return rules.Find(address, &pages);
}

TEST(RecentRulesTest, IsEmptyAtFirst) {
  const RecentRules rules;
  EXPECT_EQ(nullptr, Find(rules, 0));
  EXPECT_EQ(nullptr, Find(rules, kCode));
}

TEST(RecentRulesTest, FindsTheNewestRulesAllOverTheirCode) {
  std::mt19937 random(5);
  RecentRules rules;
  std::vector<RecentRule> model;
  for (int32_t i = 0; i < 500; ++i) {
    const uintptr_t start = kCode + static_cast<uintptr_t>(i) * 64;
    model.push_back(RuleOf(start, start + 1 + random() % 64, i));
    rules.Add(model.back());
    for (size_t back = 0; back < model.size(); ++back) {
      const RecentRule& rule = model[model.size() - 1 - back];
      for (const uintptr_t address : {rule.code.start, rule.code.end - 1}) {
        const RecentRule* const found = Find(rules, address);
        ASSERT_EQ(back < RecentRules::kCount, found != nullptr);
        if (found != nullptr) {
          ASSERT_EQ(rule.rule.cfa, found->rule.cfa);
        }
      }
      if (rule.code.end % 64 != 0) {
        ASSERT_EQ(nullptr, Find(rules, rule.code.end));
      }
    }
  }
}

TEST(RecentRulesTest, DoesNotBelieveARuleWhoseTablesAreGone) {
  constexpr size_t kPage = 4096;
  void* const page = mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, page);
  RecentRules rules;
  RecentRule rule = RuleOf(kCode, kCode + 10, 8);
  rule.tables = static_cast<const uintptr_t*>(page) + 100;
  rule.said = 0;
  rules.Add(rule);
  EXPECT_NE(nullptr, Find(rules, kCode));
  munmap(page, kPage);
  EXPECT_EQ(nullptr, Find(rules, kCode));
}

TEST(RecentRulesTest, DoesNotBelieveARuleInWhosePlaceThereAreOtherTables) {
  RecentRules rules;
  rules.Add(RuleOf(kCode, kCode + 10, 8));
  EXPECT_NE(nullptr, Find(rules, kCode));
  g_tables++;
  EXPECT_EQ(nullptr, Find(rules, kCode));
  g_tables--;
}

}  // namespace
}  // namespace mallow::record
