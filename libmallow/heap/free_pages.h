// The free spans, findable by length and by age.
//
// Shorter than 128 pages: one list per length. Longer: a tree ordered by length, then address (a treap, whose
// priorities are hashes of addresses). Besides, those that may hold memory are in one list by age.
//
// Synchronisation: the page heap's lock.
// Invariants: every span here is kFree; `resident` of each is the number of its kResident pages; two spans here
// never touch (the page heap merges before it inserts).
#pragma once

#include "heap/span.h"

namespace mallow::heap {

class FreePages {
 public:
  constexpr FreePages() = default;

  // REQUIRES: span->page, span->pages and span->free.resident are set.
  void Insert(Span* span);
  void Remove(Span* span);

  // The shortest free span of at least `pages`, among equals a recent (short) or the lowest (long); or null.
  Span* FindBestFit(Pages pages) const;

  // The longest free span, or null.
  Span* Longest() const;

  // Where in a free span a block begins that has `lead` pages of it in front.
  struct Place {
    Span* span;
    Pages lead;
  };

  // Of the places for `room` pages, that whose first `pages` hold the most memory, and `least` of them at least; or null. Looks at
  // the spans that came last and at the longest, as far as costs little beside copying so many pages. REQUIRES: least > 0.
  Place FindResident(Pages pages, Pages room, Pages least) const;

  // The span that was inserted longest ago among those that may hold memory and were not tried; or null.
  Span* Oldest() const { return by_age_.last(); }
  // `freed` pages of the span were released; what is left could not be and is not tried again.
  void Released(Span* span, Pages freed, bool finished);

  Pages pages() const { return pages_; }
  Pages resident() const { return resident_; }
  // Of those, in spans whose release was not refused.
  Pages releasable() const { return releasable_; }
  size_t spans() const { return spans_; }

  // Walks everything: for tests and checks only.
  bool IsValid() const;

 private:
  static constexpr Pages kListLengths = 128;
  // Bounds of FindResident.
  static constexpr int kMostSpans = 16;
  static constexpr Pages kLookedAtPerPage = 64;
  static constexpr Pages kLeastLookedAt = 1024;

  static bool Less(const Span* a, Pages pages, PageId page) {
    return a->pages != pages ? a->pages < pages : a->page < page;
  }
  void InsertInTree(Span* span);
  void RemoveFromTree(Span* span);
  bool IsValidSpan(const Span* span) const;
  bool IsValidTree(const Span* span, Pages* pages, Pages* resident, int depth) const;

  HeadList<Span, &Span::links> by_length_[kListLengths];
  uint64_t nonempty_[kListLengths / 64] = {};
  Span* root_ = nullptr;

  List<Span, &Span::age> by_age_;
  Pages pages_ = 0;
  Pages resident_ = 0;
  Pages releasable_ = 0;
  size_t spans_ = 0;
};

}  // namespace mallow::heap
