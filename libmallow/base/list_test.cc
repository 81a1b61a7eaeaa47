#include "base/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace mallow {
namespace {

struct Item {
  int value;
  ListLinks<Item> links;
};
using ItemList = List<Item, &Item::links>;

std::deque<int> Values(const ItemList& list) {
  std::deque<int> values;
  for (const Item* item = list.first(); item != nullptr; item = ItemList::Next(item))
    values.push_back(item->value);
  return values;
}

TEST(List, BehavesLikeADeque) {
  Item items[20] = {};
  for (int i = 0; i < 20; ++i) items[i].value = i;
  std::deque<int> model;
  ItemList list;
  std::mt19937 random(1);
  for (int step = 0; step < 20000; ++step) {
    const int value = static_cast<int>(random() % 20);
    const auto found = std::find(model.begin(), model.end(), value);
    if (found != model.end()) {
      model.erase(found);
      list.Remove(&items[value]);
    } else if (random() % 3 == 0 && !model.empty()) {
      EXPECT_EQ(list.PopFront()->value, model.front());
      model.pop_front();
    } else if (random() % 2 == 0) {
      model.push_front(value);
      list.PushFront(&items[value]);
    } else {
      model.push_back(value);
      list.PushBack(&items[value]);
    }
    ASSERT_TRUE(list.IsValid());
    ASSERT_EQ(Values(list), model);
    ASSERT_EQ(list.empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(list.last()->value, model.back());
    }
  }
  list.Clear();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.PopFront(), nullptr);
}

TEST(HeadList, BehavesLikeADeque) {
  Item items[20] = {};
  for (int i = 0; i < 20; ++i) items[i].value = i;
  std::deque<int> model;
  HeadList<Item, &Item::links> list;
  std::mt19937 random(1);
  for (int step = 0; step < 20000; ++step) {
    const int value = static_cast<int>(random() % 20);
    const auto found = std::find(model.begin(), model.end(), value);
    if (found != model.end()) {
      model.erase(found);
      list.Remove(&items[value]);
    } else {
      model.push_front(value);
      list.PushFront(&items[value]);
    }
    ASSERT_TRUE(list.IsValid());
    ASSERT_EQ(list.empty(), model.empty());
    std::deque<int> values;
    for (const Item* item = list.first(); item != nullptr; item = list.Next(item))
      values.push_back(item->value);
    ASSERT_EQ(values, model);
  }
}

}  // namespace
}  // namespace mallow
