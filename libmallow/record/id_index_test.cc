#include "record/id_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

namespace mallow::record {
namespace {

class IdIndexTest : public ::testing::Test {
 protected:
  // What an id stands for; some share their hash.
  static uint32_t HashOf(uint32_t value) { return value * 0x9e3779b1 >> 6; }
  uint32_t Find(uint32_t value) const {
    return index_.Find(HashOf(value), [&](uint32_t id) { return values_[id] == value; });
  }
  uint32_t Add(uint32_t value) {
    values_.push_back(value);
    const auto id = static_cast<uint32_t>(values_.size() - 1);
    EXPECT_TRUE(index_.MakeRoom());
    index_.Put(HashOf(value), id);
    return id;
  }

  IdIndex index_;
  std::vector<uint32_t> values_ = {0};
};

TEST_F(IdIndexTest, AgreesWithAMap) {
  std::mt19937 random(3);
  std::unordered_map<uint32_t, uint32_t> model;
  EXPECT_EQ(0u, Find(1));
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 100'000; i++) {
      const uint32_t value = 1 + random() % 200'000;
      const auto known = model.find(value);
      ASSERT_EQ(known == model.end() ? 0 : known->second, Find(value));
      if (known == model.end()) model[value] = Add(value);
    }
    for (const auto& [value, id] : model) ASSERT_EQ(id, Find(value));
    index_.Clear();
    for (const auto& [value, id] : model) ASSERT_EQ(0u, Find(value));
    model.clear();
  }
}

TEST_F(IdIndexTest, IsFullWhereThereIsNoMemory) {
  const os::MemoryFunctions without = {[](void*, size_t) -> void* { return nullptr; },
                                       os::SystemMemoryFunctions().unmap,
                                       os::SystemMemoryFunctions().release};
  os::ReplaceMemoryFunctions(&without);
  EXPECT_FALSE(index_.MakeRoom());
  os::ReplaceMemoryFunctions(nullptr);
  for (uint32_t value = 1; value <= 100; value++) Add(value);
  os::ReplaceMemoryFunctions(&without);
  uint32_t value = 100;
  while (value < 1 << 20 && index_.MakeRoom()) Add(++value);
  os::ReplaceMemoryFunctions(nullptr);
  EXPECT_LT(value, 1u << 12);
  for (uint32_t known = 1; known <= value; known++) ASSERT_EQ(known, Find(known));
  EXPECT_EQ(0u, Find(value + 1));
}

// Readers find what was there before they came, or nothing while the index grows, and never anything else.
TEST_F(IdIndexTest, IsReadWhileItGrows) {
  constexpr uint32_t kValues = 200'000;
  values_.reserve(kValues + 1);
  for (uint32_t value = 1; value <= kValues; value++) values_.push_back(value);
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (uint32_t seed = 0; seed < 2; seed++) {
    readers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      while (!done.load()) {
        const uint32_t value = 1 + random() % kValues, found = Find(value);
        ASSERT_TRUE(found == 0 || found == value);
      }
    });
  }
  for (uint32_t value = 1; value <= kValues; value++) {
    ASSERT_TRUE(index_.MakeRoom());
    index_.Put(HashOf(value), value);
  }
  for (uint32_t value = 1; value <= kValues; value++) ASSERT_EQ(value, Find(value));
  done = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace mallow::record
