// A doubly linked list through the elements themselves.
//
// T has members `T* next` and `T* previous`, which belong to the list while the element is in it. An element
// is in one list at most. Constant-initialised; not thread-safe: the owner's lock guards it.
#pragma once

#include "base/check.h"
#include "base/config.h"

namespace mallow {

template <typename T>
class List {
 public:
  constexpr List() = default;
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  T* last() const { return last_; }

  void PushFront(T* element) { Insert(nullptr, element, first_); }
  void PushBack(T* element) { Insert(last_, element, nullptr); }

  void Remove(T* element) {
    MALLOW_DCHECK(element->previous == nullptr ? first_ == element : element->previous->next == element);
    (element->previous == nullptr ? first_ : element->previous->next) = element->next;
    (element->next == nullptr ? last_ : element->next->previous) = element->previous;
    element->next = element->previous = nullptr;
  }

  T* PopFront() {
    T* element = first_;
    if (element != nullptr) Remove(element);
    return element;
  }

  // Walks the whole list: for tests and checks only.
  bool IsValid() const {
    const T* before = nullptr;
    for (const T* element = first_; element != nullptr; before = element, element = element->next) {
      if (element->previous != before) return false;
    }
    return last_ == before;
  }

 private:
  void Insert(T* before, T* element, T* after) {
    element->previous = before;
    element->next = after;
    (before == nullptr ? first_ : before->next) = element;
    (after == nullptr ? last_ : after->previous) = element;
  }

  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace mallow
