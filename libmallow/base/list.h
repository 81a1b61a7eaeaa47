// Doubly linked lists through the elements themselves.
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

// Without a way to its end: 8 bytes where many lists stand side by side.
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
    element->*kLinks = {first_, nullptr};
    if (first_ != nullptr) (first_->*kLinks).previous = element;
    first_ = element;
  }

  void Remove(T* element) {
    const ListLinks<T> links = element->*kLinks;
    MALLOW_DCHECK((links.previous == nullptr ? first_ : (links.previous->*kLinks).next) == element);
    (links.previous == nullptr ? first_ : (links.previous->*kLinks).next) = links.next;
    if (links.next != nullptr) (links.next->*kLinks).previous = links.previous;
  }

  // Forgets all elements without touching them.
  void Clear() { first_ = nullptr; }

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

template <typename T, ListLinks<T> T::*kLinks>
class List : HeadList<T, kLinks> {
  using Head = HeadList<T, kLinks>;

 public:
  using Head::empty;
  using Head::first;
  using Head::Next;
  T* last() const { return last_; }

  void PushFront(T* element) {
    if (empty()) last_ = element;
    Head::PushFront(element);
  }

  void PushBack(T* element) {
    if (empty()) return PushFront(element);
    element->*kLinks = {nullptr, last_};
    (last_->*kLinks).next = element;
    last_ = element;
  }

  void Remove(T* element) {
    if (last_ == element) last_ = (element->*kLinks).previous;
    Head::Remove(element);
  }

  T* PopFront() {
    T* element = first();
    if (element != nullptr) Remove(element);
    return element;
  }

  // As of HeadList.
  void Clear() {
    Head::Clear();
    last_ = nullptr;
  }
  bool IsValid() const {
    if (!Head::IsValid()) return false;
    const T* last = first();
    while (last != nullptr && Next(last) != nullptr) last = Next(last);
    return last_ == last;
  }

 private:
  T* last_ = nullptr;
};

}  // namespace mallow
