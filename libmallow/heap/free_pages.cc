#include "heap/free_pages.h"

#include <initializer_list>

#include "base/hash.h"
#include "heap/page_map.h"

namespace mallow::heap {

void FreePages::Insert(Span* span) {
  span->state = SpanState::kFree;
  if (span->pages < kListLengths) {
    by_length_[span->pages].PushFront(span);
    nonempty_[span->pages / 64] |= uint64_t{1} << (span->pages % 64);
  } else {
    InsertInTree(span);
  }
  span->free.in_age_list = span->free.resident != 0;
  if (span->free.in_age_list) {
    by_age_.PushFront(span);
    releasable_ += span->free.resident;
  }
  ++spans_;
  pages_ += span->pages;
  resident_ += span->free.resident;
}

void FreePages::Remove(Span* span) {
  if (span->pages < kListLengths) {
    by_length_[span->pages].Remove(span);
    if (by_length_[span->pages].empty()) nonempty_[span->pages / 64] &= ~(uint64_t{1} << (span->pages % 64));
  } else {
    RemoveFromTree(span);
  }
  if (span->free.in_age_list) {
    by_age_.Remove(span);
    releasable_ -= span->free.resident;
  }
  --spans_;
  pages_ -= span->pages;
  resident_ -= span->free.resident;
}

void FreePages::Released(Span* span, Pages freed, bool finished) {
  span->free.resident -= freed;
  resident_ -= freed;
  releasable_ -= freed;
  if (finished || span->free.resident == 0) {
    releasable_ -= span->free.resident;
    by_age_.Remove(span);
    span->free.in_age_list = false;
  }
}

Span* FreePages::FindBestFit(Pages pages) const {
  if (pages < kListLengths) {
    Pages word = pages / 64;
    uint64_t candidates = nonempty_[word] & (~uint64_t{0} << (pages % 64));
    while (candidates == 0 && ++word < kListLengths / 64) candidates = nonempty_[word];
    if (candidates != 0)
      return by_length_[word * 64 + static_cast<Pages>(CountTrailingZeros(candidates))].first();
  }
  Span* best = nullptr;
  for (Span* span = root_; span != nullptr;) {
    if (span->pages >= pages) {
      best = span;
      span = span->free.left;
    } else {
      span = span->free.right;
    }
  }
  return best;
}

Span* FreePages::Longest() const {
  if (Span* span = root_) {
    while (span->free.right != nullptr) span = span->free.right;
    return span;
  }
  for (Pages word = kListLengths / 64; word-- > 0;) {
    if (nonempty_[word] != 0)
      return by_length_[word * 64 + static_cast<Pages>(Log2Floor(nonempty_[word]))].first();
  }
  return nullptr;
}

FreePages::Place FreePages::FindResident(Pages pages, Pages room, Pages least) const {
  Place place = {};
  Pages most = least - 1;
  Pages left = kLeastLookedAt + pages * kLookedAtPerPage;
  const auto look = [&](Span* span) {
    if (span->free.resident <= most) return;
    for (PageId page = span->page; page + room <= span->end() && most < pages && left > pages;) {
      if (PageMap::StateOf(page) == PageState::kResident) {
        const Pages resident = PageMap::CountResident(page, pages);
        left -= pages;
        if (resident > most) {
          most = resident;
          place = {span, page - span->page};
        }
      }
      const Pages run = PageMap::RunLength(page, Min(left, span->end() - page));
      left -= run;
      page += run;
    }
  };
  int spans = 0;
  for (Span* span = by_age_.first(); span != nullptr && ++spans <= kMostSpans; span = by_age_.Next(span)) {
    look(span);
  }
  if (Span* const longest = Longest()) look(longest);
  return place;
}

void FreePages::InsertInTree(Span* span) {
  span->free.priority = HashWord(span->page);
  Span** link = &root_;
  while (*link != nullptr && (*link)->free.priority >= span->free.priority) {
    link = Less(*link, span->pages, span->page) ? &(*link)->free.right : &(*link)->free.left;
  }
  // What hung here is split into what sorts before and behind the new span.
  Span** before = &span->free.left;
  Span** behind = &span->free.right;
  for (Span* next = *link; next != nullptr;) {
    if (Less(next, span->pages, span->page)) {
      *before = next;
      before = &next->free.right;
      next = next->free.right;
    } else {
      *behind = next;
      behind = &next->free.left;
      next = next->free.left;
    }
  }
  *before = *behind = nullptr;
  *link = span;
}

void FreePages::RemoveFromTree(Span* span) {
  Span** link = &root_;
  while (*link != span) {
    MALLOW_CHECK(*link != nullptr);
    link = Less(*link, span->pages, span->page) ? &(*link)->free.right : &(*link)->free.left;
  }
  Span* before = span->free.left;
  Span* behind = span->free.right;
  while (before != nullptr && behind != nullptr) {
    if (before->free.priority > behind->free.priority) {
      *link = before;
      link = &before->free.right;
      before = before->free.right;
    } else {
      *link = behind;
      link = &behind->free.left;
      behind = behind->free.left;
    }
  }
  *link = before != nullptr ? before : behind;
}

bool FreePages::IsValidSpan(const Span* span) const {
  return span->state == SpanState::kFree && span->pages > 0 && PageMap::SpanOf(span->page) == span &&
         PageMap::SpanOf(span->end() - 1) == span &&
         PageMap::CountResident(span->page, span->pages) == span->free.resident;
}

bool FreePages::IsValidTree(const Span* span, Pages* pages, Pages* resident, int depth) const {
  constexpr int kDeepest = 200;
  if (span == nullptr) return true;
  if (depth > kDeepest || span->pages < kListLengths || !IsValidSpan(span)) return false;
  *pages += span->pages;
  *resident += span->free.resident;
  for (const Span* child : {span->free.left, span->free.right}) {
    if (child == nullptr) continue;
    const bool is_left = child == span->free.left;
    if (child->free.priority > span->free.priority) return false;
    if (Less(child, span->pages, span->page) != is_left) return false;
    if (!IsValidTree(child, pages, resident, depth + 1)) return false;
  }
  return true;
}

bool FreePages::IsValid() const {
  Pages pages = 0;
  Pages resident = 0;
  for (Pages length = 0; length < kListLengths; ++length) {
    const auto& list = by_length_[length];
    const bool marked = (nonempty_[length / 64] >> (length % 64) & 1) != 0;
    if (!list.IsValid() || marked == list.empty()) return false;
    for (const Span* span = list.first(); span != nullptr; span = list.Next(span)) {
      if (span->pages != length || !IsValidSpan(span)) return false;
      pages += span->pages;
      resident += span->free.resident;
    }
  }
  Pages releasable = 0;
  for (const Span* span = by_age_.first(); span != nullptr; span = by_age_.Next(span)) {
    if (!span->free.in_age_list || span->free.resident == 0) return false;
    releasable += span->free.resident;
  }
  if (releasable != releasable_) return false;
  return IsValidTree(root_, &pages, &resident, 0) && by_age_.IsValid() && pages == pages_ &&
         resident == resident_;
}

}  // namespace mallow::heap
