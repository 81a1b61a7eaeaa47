// List against std::deque.
#include <algorithm>
#include <deque>

#include "base/fuzz.h"
#include "base/list.h"

namespace mallow {
namespace {

struct Element {
  ListLinks<Element> links;
};
using ElementList = List<Element, &Element::links>;

void CheckSame(const ElementList& list, const std::deque<Element*>& model) {
  MALLOW_CHECK(list.IsValid() && list.empty() == model.empty());
  MALLOW_CHECK(list.first() == (model.empty() ? nullptr : model.front()));
  MALLOW_CHECK(list.last() == (model.empty() ? nullptr : model.back()));
  const Element* element = list.first();
  for (const Element* expected : model) {
    MALLOW_CHECK(element == expected);
    element = ElementList::Next(element);
  }
  MALLOW_CHECK(element == nullptr);
}

void Play(FuzzInput input) {
  constexpr size_t kElements = 24;
  Element elements[kElements];
  std::deque<Element*> outside;
  for (Element& element : elements) outside.push_back(&element);
  ElementList list;
  std::deque<Element*> model;
  auto take_outside = [&] {
    Element* element = outside.front();
    outside.pop_front();
    return element;
  };
  while (!input.done()) {
    switch (input.Operation(8)) {
      case 0:
      case 1:
        if (outside.empty()) break;
        model.push_front(take_outside());
        list.PushFront(model.front());
        break;
      case 2:
      case 3:
        if (outside.empty()) break;
        model.push_back(take_outside());
        list.PushBack(model.back());
        break;
      case 4: {
        Element* expected = model.empty() ? nullptr : model.front();
        MALLOW_CHECK(list.PopFront() == expected);
        if (expected == nullptr) break;
        model.pop_front();
        outside.push_back(expected);
        break;
      }
      case 5:
        if (!input.OneIn(16)) break;
        list.Clear();
        outside.insert(outside.end(), model.begin(), model.end());
        model.clear();
        break;
      default: {
        if (model.empty()) break;
        const auto chosen = model.begin() + static_cast<long>(input.Below(model.size()));
        list.Remove(*chosen);
        outside.push_back(*chosen);
        model.erase(chosen);
      }
    }
    CheckSame(list, model);
  }
}

}  // namespace
}  // namespace mallow

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::Play({data, size});
  return 0;
}
