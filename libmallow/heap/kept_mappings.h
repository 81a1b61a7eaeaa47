// Mapped spans that were freed while little of them was in memory: the next long block takes one of them, and finds the pages
// that the last one touched. So a loop that allocates long blocks and touches a little of each takes few page faults.
//
// Synchronisation: the page heap's lock.
#pragma once

#include "base/list.h"
#include "heap/span.h"

namespace mallow::heap {

class KeptMappings {
 public:
  constexpr KeptMappings() = default;

  // What the span says of it (`kept`) is set.
  void Add(Span* span) {
    span->SetState(SpanState::kKept);
    list_.PushFront(span);
    ++count_;
    pages_ += span->pages;
    resident_ += span->kept.resident;
  }

  void Remove(Span* span) {
    list_.Remove(span);
    --count_;
    pages_ -= span->pages;
    resident_ -= span->kept.resident;
  }

  // The shortest one of at least so many pages, else the longest; null: there is none.
  Span* Fitting(Pages pages) const {
    Span* best = nullptr;
    for (Span* span = list_.first(); span != nullptr; span = List::Next(span)) {
      if (best == nullptr || FitsBetter(span->pages, best->pages, pages)) best = span;
    }
    return best;
  }

  // What is to go: there are too many, or more than `most` pages of them in memory. Null: nothing.
  Span* Excess(Pages most) const { return count_ > kMost || resident_ > most ? list_.last() : nullptr; }
  Span* Oldest() const { return list_.last(); }
  // One that lay here at the last Age, too, or null.
  Span* Idle() const { return count_ != 0 && list_.last()->kept.idle ? list_.last() : nullptr; }
  void Age() {
    for (Span* span = list_.first(); span != nullptr; span = List::Next(span)) span->kept.idle = true;
  }

  size_t count() const { return count_; }
  Pages pages() const { return pages_; }
  // Of those, in memory: an estimate.
  Pages resident() const { return resident_; }
  // Walks them all: for tests and checks only.
  bool IsValid() const {
    KeptMappings sum;
    for (const Span* span = list_.first(); span != nullptr; span = List::Next(span)) {
      const Pages resident = span->kept.resident;
      if (span->State() != SpanState::kKept || resident == 0 || resident > span->pages) return false;
      ++sum.count_;
      sum.pages_ += span->pages;
      sum.resident_ += resident;
    }
    return list_.IsValid() && sum.count_ == count_ && count_ <= kMost && sum.pages_ == pages_ &&
           sum.resident_ == resident_;
  }

 private:
  using List = mallow::List<Span, &Span::links>;

  static constexpr size_t kMost = 4;

  static bool FitsBetter(Pages one, Pages other, Pages wanted) {
    return (one >= wanted) == (other >= wanted) ? (one < other) == (one >= wanted) : one >= wanted;
  }

  List list_;  // newest first
  size_t count_ = 0;
  Pages pages_ = 0;
  Pages resident_ = 0;
};

}  // namespace mallow::heap
