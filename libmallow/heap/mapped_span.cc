// Large spans that are alone in a mapping; see PageHeap::AllocateLarge.
#include <initializer_list>

#include "heap/page_heap.h"
#include "heap/page_map.h"
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

}  // namespace

Span* PageHeap::AllocateMapped(Pages pages, Pages alignment, Pages room) {
  pages = WholeSystemPages(pages);
  room = WholeSystemPages(room);
  char* const start = MapWithRoom(pages, alignment, &room);
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

// What has grown once is likely to grow again.
Span* PageHeap::MoveToMapped(Span* span, Pages pages) {
  Pages room = pages;
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
  const bool done = os::MovePages(span->start(), span->pages * kPageBytes, start, bytes);
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
  {
    SpinlockHolder holder(lock_);
    UncountLarge(span);
    DetachRecords(span);
    // Before another thread can be given the addresses.
    RemoveEnds(span);
    __atomic_store_n(&system_, system_ - span->pages, __ATOMIC_RELAXED);
    DeleteSpan(span);
  }
  UnmapOrKeep(page, mapped);
}

// Of pages that belong to no span any more. What the system refuses to take back, because the process has too many mappings,
// are free pages of ours; without memory for that they are nobody's.
void PageHeap::UnmapOrKeep(PageId page, Pages pages) {
  if (os::Unmap(AddressOf(page), pages * kPageBytes)) return;
  const bool released = os::Release(AddressOf(page), pages * kPageBytes);
  SpinlockHolder holder(lock_);
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
