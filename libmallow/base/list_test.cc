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
using ItemHeadList = HeadList<Item, &Item::links>;

constexpr int kItems = 20;

template <typename L>
std::deque<int> Values(const L& list) {
  std::deque<int> values;
  for (const Item* item = list.first(); item != nullptr; item = L::Next(item)) values.push_back(item->value);
  return values;
}

// Takes items out and puts them in beside a deque that does the same. `put(list, item, model, random)` chooses where.
template <typename L, typename Put>
void Play(Put put) {
  Item items[kItems] = {};
  for (int i = 0; i < kItems; ++i) items[i].value = i;
  std::deque<int> model;
  L list;
  std::mt19937 random(1);
  for (int step = 0; step < 20000; ++step) {
    const int value = static_cast<int>(random() % kItems);
    const auto found = std::find(model.begin(), model.end(), value);
    if (found != model.end()) {
      model.erase(found);
      list.Remove(&items[value]);
    } else {
      put(&list, &items[value], &model, random());
    }
    ASSERT_TRUE(list.IsValid());
    ASSERT_EQ(Values(list), model);
    ASSERT_EQ(list.empty(), model.empty());
  }
  list.Clear();
  EXPECT_TRUE(list.IsValid());
  EXPECT_TRUE(list.empty());
}

TEST(List, BehavesLikeADeque) {
  Play<ItemList>([](ItemList* list, Item* item, std::deque<int>* model, unsigned chance) {
    if (chance % 3 == 0 && !model->empty()) {
      EXPECT_EQ(list->PopFront()->value, model->front());
      model->pop_front();
    }
    if (chance % 2 == 0) {
      model->push_front(item->value);
      list->PushFront(item);
    } else {
      model->push_back(item->value);
      list->PushBack(item);
    }
    EXPECT_EQ(list->last()->value, model->back());
  });
}

TEST(List, HasNothingToPopWhenEmpty) {
  ItemList list;
  EXPECT_EQ(list.PopFront(), nullptr);
  EXPECT_EQ(list.last(), nullptr);
}

TEST(HeadList, BehavesLikeADeque) {
  Play<ItemHeadList>([](ItemHeadList* list, Item* item, std::deque<int>* model, unsigned) {
    model->push_front(item->value);
    list->PushFront(item);
  });
}

}  // namespace
}  // namespace mallow
