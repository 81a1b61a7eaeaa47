// Large spans that are alone in a mapping; see PageHeap::AllocateLarge.
#include <initializer_list>

#include "base/hash.h"
#include "heap/page_heap.h"
#include "heap/page_map.h"
#include "os/clock.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

// The system moves tables of pages as they are between addresses that differ by a multiple of this.
constexpr Pages kMovedTogether = 2 * 1024 * 1024 / kPageBytes;

Pages WholeSystemPages(Pages pages) { return RoundUp(pages, Max<Pages>(1, os::PageSize() / kPageBytes)); }

// Fresh memory from a multiple of `alignment` pages on, or null.
char* MapAt(Pages pages, Pages alignment) {
  const size_t bytes = pages * kPageBytes, unit = alignment * kPageBytes;
  size_t around;
  if (__builtin_add_overflow(bytes, unit, &around)) return nullptr;
  char* const start = static_cast<char*>(os::Map(nullptr, around));
  if (start == nullptr) return nullptr;
  const size_t before =
      RoundUp(reinterpret_cast<uintptr_t>(start), unit) - reinterpret_cast<uintptr_t>(start);
  // To shorten a mapping takes no other one.
  if (before > 0) os::Unmap(start, before);
  os::Unmap(start + before + bytes, unit - before);
  return start + before;
}

// The same, where tables of pages can be moved as they are if there is room for that.
char* MapMovable(Pages pages, Pages alignment) {
  char* const start = alignment < kMovedTogether ? MapAt(pages, kMovedTogether) : nullptr;
  return start != nullptr ? start : MapAt(pages, alignment);
}

// The same with room behind it, which is a wish.
char* MapWithRoom(Pages pages, Pages alignment, Pages* room) {
  char* const start = *room == 0 ? nullptr : MapMovable(pages + *room, alignment);
  if (start != nullptr) return start;
  *room = 0;
  return MapMovable(pages, alignment);
}

bool ReserveEnds(PageId page, Pages pages) {
  return PageMap::Reserve(page, 1) && PageMap::Reserve(page + pages - 1, 1);
}

void EnterEnds(Span* span) {
  for (const PageId end : {span->page, span->end() - 1}) {
    PageMap::SetSpan(end, span);
    PageMap::SetState(end, 1, PageState::kResident);
  }
}

void RemoveEnds(const Span* span) {
  for (const PageId end : {span->page, span->end() - 1}) PageMap::SetState(end, 1, PageState::kForeign);
}

// How many pages of the span are in memory, by what its beginning and some places of it tell; all where that is not known, or
// more than `most` for certain, or where it are so few that they are not worth another look. A place is as long as half a
// table of pages, which the system looks through in a microsecond; a question for the whole span takes as long as the page
// faults did.
Pages EstimateResident(const Span& span, Pages most) {
  constexpr size_t kParts = 16, kLongest = size_t{2} << 30, kEdge = 64 * 1024;
  const size_t bytes = span.pages * kPageBytes, limit = most * kPageBytes, place = 256 * os::PageSize();
  const size_t part = RoundDown(bytes / kParts, os::PageSize());
  if (part <= place || bytes > kLongest) return span.pages;
  const auto resident_at = [&](size_t offset, size_t asked) {
    return os::ResidentBytes(span.start() + RoundDown(offset, os::PageSize()), asked);
  };
  const size_t first = resident_at(0, place);
  if (first == 0) return span.pages;
  // Many a block is filled from its beginning on.
  if (limit + kEdge < bytes && resident_at(limit, kEdge) == kEdge) return span.pages;
  size_t found = 0;
  const auto estimate = [&] { return first / kPageBytes + found * span.pages / (kParts * place); };
  for (size_t i = 0; i < kParts && estimate() <= most; ++i) {
    // Where in its part a place lies goes by no rule of a program's.
    found += resident_at(i * part + HashWord(i + 1) % (part - place), place);
    if (first + found <= os::PageSize()) return span.pages;
  }
  return Clamp<Pages>(estimate(), 1, span.pages);
}

}  // namespace

Span* PageHeap::AllocateMapped(Pages pages, Pages alignment, Pages room) {
  pages = WholeSystemPages(pages);
  room = WholeSystemPages(room);
  if (room == 0 && alignment == 1) {
    if (Span* const kept = AllocateKept(pages)) return kept;
  }
  char* start = MapWithRoom(pages, alignment, &room);
  if (start == nullptr && GiveUpKept()) start = MapWithRoom(pages, alignment, &room);
  if (start == nullptr) return nullptr;
  {
    SpinlockHolder holder(lock_);
    if (Span* const span = NewMapped(PageOf(start), pages, room)) {
      EnterMapped(span);
      return span;
    }
  }
  os::Unmap(start, (pages + room) * kPageBytes);
  return nullptr;
}

// From a kept mapping, or null: there is none, or no memory.
Span* PageHeap::AllocateKept(Pages pages) {
  Span* const kept = TakeKept(pages);
  if (kept == nullptr || ResizeMapped(kept, pages)) return kept;
  Span* const longer = kept->pages < pages ? MoveToMapped(kept, pages, 0, false) : nullptr;
  if (longer != nullptr) longer->used_before = true;
  FreeMapped(kept);
  return longer;
}

// One that is as near to that length as there is.
Span* PageHeap::TakeKept(Pages pages) {
  SpinlockHolder holder(lock_);
  Span* const span = kept_.Fitting(pages);
  if (span == nullptr || !AttachRecords(span, 1)) return nullptr;
  kept_.Remove(span);
  CountLarge(span);
  span->mapped = span->used_before = true;
  span->room = 0;
  return span;
}

Span* PageHeap::MoveToMapped(Span* span, Pages pages, Pages room, bool needed) {
  char* const start = MapWithRoom(pages, 1, &room);
  if (start == nullptr) return nullptr;
  const size_t bytes = (pages + room) * kPageBytes;
  Span* moved;
  {
    SpinlockHolder holder(lock_);
    moved = NewMapped(PageOf(start), pages, room);
  }
  if (moved == nullptr) {
    os::Unmap(start, bytes);
    return nullptr;
  }
  const bool done = os::MovePages(span->start(), span->pages * kPageBytes, start, bytes, needed);
  SpinlockHolder holder(lock_);
  if (!done) {
    DetachRecords(moved);
    DeleteSpan(moved);
    return nullptr;
  }
  span->moved_away = true;
  EnterMapped(moved);
  return moved;
}

// A span that nobody can find yet, or null.
Span* PageHeap::NewMapped(PageId page, Pages pages, Pages room) {
  if (!ReserveEnds(page, pages) || !ReserveSpans(1)) return nullptr;
  Span* const span = NewSpan(page, pages);
  if (!AttachRecords(span, 1)) {
    DeleteSpan(span);
    return nullptr;
  }
  span->room = room;
  return span;
}

void PageHeap::EnterMapped(Span* span) {
  EnterEnds(span);
  CountLarge(span);
  span->mapped = true;
  __atomic_store_n(&system_, system_ + span->pages, __ATOMIC_RELAXED);
  most_system_ = Max(most_system_, system_);
}

void PageHeap::FreeMapped(Span* span) {
  const PageId page = span->page;
  const Pages mapped = span->pages + span->room;
  const bool kept = MayBeKept(span);
  {
    SpinlockHolder holder(lock_);
    UncountLarge(span);
    DetachRecords(span);
    if (kept) {
      span->records = nullptr;
      const bool look = pace_.OnFree(span->kept.resident);
      kept_.Add(span);
      while (Span* const excess = kept_.Excess(pace_.MostKept())) UnmapKept(excess);
      if (look) Release(os::CoarseNanoseconds());
      return;
    }
    DeleteMapped(span);
  }
  UnmapOrKeep(page, mapped);
}

// As a shorter block is that has so much memory. True: span->kept is set.
bool PageHeap::MayBeKept(Span* span) const {
  if (span->moved_away || span->room != 0) return false;
  const Pages resident = EstimateResident(*span, pace_.MostKept());
  if (pace_.AtOnce(resident)) return false;
  span->kept = {.resident = resident, .idle = false};
  return true;
}

// Before its addresses are unmapped: another thread can be given them then.
void PageHeap::DeleteMapped(Span* span) {
  RemoveEnds(span);
  __atomic_store_n(&system_, system_ - span->pages, __ATOMIC_RELAXED);
  DeleteSpan(span);
}

void PageHeap::UnmapKept(Span* span) {
  kept_.Remove(span);
  const PageId page = span->page;
  const Pages pages = span->pages;
  DeleteMapped(span);
  if (!os::Unmap(AddressOf(page), pages * kPageBytes)) KeepRefused(page, pages);
}

bool PageHeap::GiveUpKept() {
  SpinlockHolder holder(lock_);
  return UnmapAllKept();
}

// False: there was none.
bool PageHeap::UnmapAllKept() {
  const bool any = kept_.count() != 0;
  while (kept_.count() != 0) UnmapKept(kept_.Oldest());
  return any;
}

// Of pages that belong to no span any more.
void PageHeap::UnmapOrKeep(PageId page, Pages pages) {
  if (os::Unmap(AddressOf(page), pages * kPageBytes)) return;
  SpinlockHolder holder(lock_);
  KeepRefused(page, pages);
}

// What the system refuses to take back, because the process has too many mappings, are free pages of ours; without memory
// for that they are nobody's.
void PageHeap::KeepRefused(PageId page, Pages pages) {
  const bool released = os::Release(AddressOf(page), pages * kPageBytes);
  if (!PageMap::Reserve(page, pages) || !ReserveSpans(1)) return;
  AddRegion(page, pages);
  if (!released) PageMap::SetState(page, pages, PageState::kResident);
  Span* const span = NewSpan(page, pages);
  span->free.resident = released ? 0 : pages;
  InsertMerged(span);
}

bool PageHeap::ResizeMapped(Span* span, Pages pages) {
  pages = WholeSystemPages(pages);
  if (pages < span->pages) return ShrinkMapped(span, pages);
  if (pages == span->pages) return true;
  const Pages more = pages - span->pages;
  if (more > span->room) return false;
  SpinlockHolder holder(lock_);
  if (!ReserveEnds(span->page, pages)) return false;
  span->room -= more;
  SetMappedPages(span, pages);
  return true;
}

// REQUIRES: the new last page is reserved.
void PageHeap::SetMappedPages(Span* span, Pages pages) {
  RemoveEnds(span);
  large_ += pages - span->pages;
  __atomic_store_n(&system_, system_ + pages - span->pages, __ATOMIC_RELAXED);
  most_system_ = Max(most_system_, system_);
  span->pages = pages;
  EnterEnds(span);
}

bool PageHeap::ShrinkMapped(Span* span, Pages pages) {
  const Pages tail_pages = span->pages + span->room - pages;
  const PageId tail = span->page + pages;
  {
    SpinlockHolder holder(lock_);
    if (!ReserveEnds(span->page, pages)) return false;
    span->room = 0;
    SetMappedPages(span, pages);
  }
  UnmapOrKeep(tail, tail_pages);
  return true;
}

}  // namespace mallow::heap
