// A doubly linked list through the elements themselves.
//
// List<Span, &Span::links> threads the elements through their member `links`, which belongs to the list while the
// element is in it. Constant-initialised; not thread-safe: the owner's lock guards it.
#pragma once

#include "base/check.h"
#include "base/config.h"

namespace mallow {

template <typename T>
struct ListLinks {
  T* next;
  T* previous;
};

template <typename T, ListLinks<T> T::*kLinks>
class List {
 public:
  constexpr List() = default;
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  T* last() const { return last_; }
  static T* Next(const T* element) { return (element->*kLinks).next; }

  void PushFront(T* element) { Insert(nullptr, element, first_); }
  void PushBack(T* element) { Insert(last_, element, nullptr); }

  void Remove(T* element) {
    const ListLinks<T> links = element->*kLinks;
    MALLOW_DCHECK((links.previous == nullptr ? first_ : (links.previous->*kLinks).next) == element);
    (links.previous == nullptr ? first_ : (links.previous->*kLinks).next) = links.next;
    (links.next == nullptr ? last_ : (links.next->*kLinks).previous) = links.previous;
  }

  T* PopFront() {
    T* element = first_;
    if (element != nullptr) Remove(element);
    return element;
  }

  // Forgets all elements without touching them.
  void Clear() { first_ = last_ = nullptr; }

  // Walks the whole list: for tests and checks only.
  bool IsValid() const {
    const T* before = nullptr;
    for (const T* element = first_; element != nullptr; before = element, element = Next(element)) {
      if ((element->*kLinks).previous != before) return false;
    }
    return last_ == before;
  }

 private:
  void Insert(T* before, T* element, T* after) {
    (element->*kLinks).previous = before;
    (element->*kLinks).next = after;
    (before == nullptr ? first_ : (before->*kLinks).next) = element;
    (after == nullptr ? last_ : (after->*kLinks).previous) = element;
  }

  T* first_ = nullptr;
  T* last_ = nullptr;
};

// The same without a way to its end: 8 bytes where many lists stand side by side.
template <typename T, ListLinks<T> T::*kLinks>
class HeadList {
 public:
  constexpr HeadList() = default;
  HeadList(const HeadList&) = delete;
  HeadList& operator=(const HeadList&) = delete;

  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  static T* Next(const T* element) { return (element->*kLinks).next; }

  void PushFront(T* element) {
    (element->*kLinks).previous = nullptr;
    (element->*kLinks).next = first_;
    if (first_ != nullptr) (first_->*kLinks).previous = element;
    first_ = element;
  }

  void Remove(T* element) {
    const ListLinks<T> links = element->*kLinks;
    MALLOW_DCHECK((links.previous == nullptr ? first_ : (links.previous->*kLinks).next) == element);
    (links.previous == nullptr ? first_ : (links.previous->*kLinks).next) = links.next;
    if (links.next != nullptr) (links.next->*kLinks).previous = links.previous;
  }

  // Walks the whole list: for tests and checks only.
  bool IsValid() const {
    const T* before = nullptr;
    for (const T* element = first_; element != nullptr; before = element, element = Next(element)) {
      if ((element->*kLinks).previous != before) return false;
    }
    return true;
  }

 private:
  T* first_ = nullptr;
};

}  // namespace mallow
