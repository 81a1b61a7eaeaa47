#include "heap/page_heap.h"

#include <string.h>

#include "base/check.h"
#include "heap/page_map.h"
#include "heap/record_map.h"
#include "os/clock.h"
#include "os/memory.h"

namespace mallow::heap {

constinit PageHeap page_heap;

namespace {

// The first region is small, so that a small program stays small; later ones follow the heap's size.
constexpr Pages kFirstGrowth = 1024 * 1024 / kPageBytes;
constexpr Pages kLargestGrowth = 64 * 1024 * 1024 / kPageBytes;
constexpr Pages kGrowthShare = 8;

// Taking so much of what was given back is a sign as growth is: a share of the heap, and more than small ones breathe.
constexpr Pages kLeastFreshPerSign = 8 * 1024 * 1024 / kPageBytes;
constexpr Pages kFreshShare = 16;

// Moving pages pays from here on. Each time may leave a mapping more, of which a process can have some 65,000:
// a share of the heap bounds their number, and so do multiples of this, or of that share, among the heap's addresses. As
// long as a huge page is, so that one moves as it is.
constexpr Pages kLeastMoved = 1024 * 1024 / kPageBytes;
constexpr Pages kMovedUnit = 2 * 1024 * 1024 / kPageBytes;
constexpr Pages kSystemShareMoved = 4096;

// A page of the system.
constexpr size_t kSpansAtOnce = 4096 / sizeof(Span);

// What the system refuses is tried in halves, so often for one span: enough to find a page among 2^32, and next to nothing
// where all memory is locked.
constexpr int kMostRefusals = 32;

// Shorter free spans keep their addresses: many holes are many mappings. Those of a small heap are few even so.
constexpr Pages kLeastUnmapped = 1024 * 1024 / kPageBytes;
constexpr Pages kShareUnmapped = 1024;

// Fresh memory that starts on a heap page; the system's pages may be smaller.
char* MapAligned(size_t bytes, char* hint = nullptr) {
  char* start = static_cast<char*>(os::Map(hint, bytes));
  if (start == nullptr || IsAligned(start, kPageBytes)) return start;
  // As a rule the addresses below are the next that the system gives.
  const size_t shift = reinterpret_cast<uintptr_t>(start) % kPageBytes;
  if (char* const below = static_cast<char*>(os::Map(start - shift, shift))) {
    if (below == start - shift && os::Unmap(below + bytes, shift)) return below;
    os::Unmap(below, shift);
  }
  os::Unmap(start, bytes);
  start = static_cast<char*>(os::Map(nullptr, bytes + kPageBytes));
  if (start == nullptr) return nullptr;
  char* aligned = reinterpret_cast<char*>(RoundUp(reinterpret_cast<uintptr_t>(start), kPageBytes));
  const size_t before = static_cast<size_t>(aligned - start);
  if (before > 0) os::Unmap(start, before);
  if (before < kPageBytes) os::Unmap(aligned + bytes, kPageBytes - before);
  return aligned;
}

// Of fresh memory what lies in one leaf of the page map, as far as that is enough: to a program that may not have much (a
// limit of data), a leaf for each side of a boundary can be what it has no room for.
void KeepOneLeaf(char** start, size_t* bytes, size_t enough) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(*start);
  const uintptr_t boundary = RoundDown(first + *bytes - 1, PageMap::LeafSpanBytes());
  if (boundary <= first) return;
  const size_t below = boundary - first, above = *bytes - below;
  if (Max(below, above) < enough) return;
  char* const rest = below < above ? *start : *start + below;
  if (!os::Unmap(rest, Min(below, above))) return;
  if (below < above) *start += below;
  *bytes = Max(below, above);
}

// Fresh memory at just these addresses. False: others have them meanwhile.
bool MapThere(char* start, size_t bytes) {
  void* const there = os::Map(start, bytes);
  if (there == start) return true;
  if (there != nullptr) os::Unmap(there, bytes);
  return false;
}

// The part of a span that fills whole pages of the system, which may be longer than ours: only these can be given
// back.
struct SystemPages {
  explicit SystemPages(const Span* span) : unit(Max<Pages>(1, os::PageSize() / kPageBytes)) {
    first = RoundUp(span->page, unit);
    last = Max(first, RoundDown(span->end(), unit));
  }
  // What of these lies in the same pages of the system as [begin, end).
  SystemPages Around(PageId begin, PageId end) const {
    SystemPages part = *this;
    part.first = Max(first, RoundDown(begin, unit));
    part.last = Max(part.first, Min(last, RoundUp(end, unit)));
    return part;
  }
  Pages count() const { return last - first; }
  bool Release() const { return count() > 0 && os::Release(AddressOf(first), count() * kPageBytes); }

  Pages unit;
  PageId first;
  PageId last;
};

// Gives pages of a free span back, all but those that are locked, until the system has refused `*refusals` times. Returns how
// many of these may have held memory.
Pages ReleaseParts(const SystemPages& part, int* refusals) {
  const Pages resident = PageMap::CountResident(part.first, part.count());
  if (part.Release()) {
    PageMap::SetState(part.first, part.count(), PageState::kClean);
    return resident;
  }
  if (part.count() <= part.unit || --*refusals < 0) return 0;
  const PageId middle = part.first + RoundUp(part.count() / 2, part.unit);
  const Pages released = ReleaseParts(part.Around(part.first, middle), refusals);
  return released + ReleaseParts(part.Around(middle, part.last), refusals);
}

void SetAllBits(Span* span, size_t objects) {
  for (size_t word = 0; word < DivideUp(objects, 64); ++word) {
    const size_t left = objects - word * 64;
    span->free_bits[word] = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  }
}

// Resident pages among the first `pages` of a free span.
Pages ResidentIn(const Span* span, Pages pages) {
  if (span->free.resident == 0) return 0;
  return span->free.resident == span->pages ? pages : PageMap::CountResident(span->page, pages);
}

// What a block that grows is to find at the place that it is given.
constexpr Pages RoomToGrow(Pages pages) { return pages + pages / 4; }

void EnterEnds(Span* span) {
  PageMap::SetSpan(span->page, span);
  PageMap::SetSpan(span->end() - 1, span);
}

}  // namespace

Span* PageHeap::AllocateSmall(SizeClass size_class, Growth growth) {
  const SizeClassInfo& info = Info(size_class);
  SpinlockHolder holder(lock_);
  Span* span = TakeRun(info.pages, 1, growth);
  if (span == nullptr) return nullptr;
  if (!AttachRecords(span, info.objects)) {
    InsertMerged(span);
    return nullptr;
  }
  ++small_spans_[size_class];
  span->state = SpanState::kSmall;
  span->size_class = static_cast<uint8_t>(size_class);
  span->objects = span->free_objects = info.objects;
  span->object_bytes = info.bytes;
  span->reciprocal = info.reciprocal;
  span->given_back = span->trimmed = 0;
  SetAllBits(span, info.objects);
  for (Pages i = 0; i < span->marked_pages(); ++i) PageMap::SetSpan(span->page + i, span);
  PageMap::SetClass(span->page, span->marked_pages(), size_class);
  if (span->records != nullptr) RecordMap::Enter(*span);
  return span;
}

Span* PageHeap::AllocateLarge(Pages pages, Pages alignment, Growth growth) {
  // A run would be cut out of free memory as long as both.
  if (WantsMapping(Max(pages, alignment)) && growth != Growth::kForbidden) {
    Span* const mapped = AllocateMapped(pages, alignment, 0);
    if (mapped != nullptr || growth == Growth::kAllowed) return mapped;
  }
  SpinlockHolder holder(lock_);
  Span* span = TakeRun(pages, alignment, growth);
  return span == nullptr ? nullptr : MakeLarge(span);
}

Span* PageHeap::AllocateGrowing(Pages pages) {
  if (WantsMapping(pages)) return AllocateMapped(pages, 1, pages);
  const Pages room = RoomToGrow(pages);
  SpinlockHolder holder(lock_);
  if (!ReserveSpans(2)) return nullptr;
  const FreePages::Place place = free_.FindResident(pages, room, 1);
  if (place.span != nullptr) return MakeLarge(CutAt(place, pages));
  Span* span = free_.Longest();
  if ((span == nullptr || span->pages < room) && Grow(room, 2 * pages)) span = free_.Longest();
  if (span == nullptr || span->pages < pages) return nullptr;
  return MakeLarge(Cut(span, pages, 1));
}

// REQUIRES: the span is in no list.
Span* PageHeap::MakeLarge(Span* span) {
  if (!AttachRecords(span, 1)) {
    InsertMerged(span);
    return nullptr;
  }
  CountLarge(span);
  return span;
}

void PageHeap::CountLarge(Span* span) {
  span->state = SpanState::kLarge;
  span->moved_away = span->mapped = span->used_before = false;
  ++large_count_;
  large_ += span->pages;
}

void PageHeap::UncountLarge(Span* span) {
  --large_count_;
  large_ -= span->pages;
}

// Into fresh pages only, because what was there is lost when the system refuses.
Span* PageHeap::MoveLarge(Span* span, Pages pages) {
  if (span->pages < Max(kLeastMoved, system_pages() / kSystemShareMoved)) return nullptr;
  // The system moves whole pages of its own.
  if (os::PageSize() > kPageBytes) return nullptr;
  // What has grown once is likely to grow again.
  if (WantsMapping(pages)) return MoveToMapped(span, pages, pages, true);
  // Room to grow is a wish: the system may have no more than all memory to promise.
  Pages mapped = 2 * pages;
  char* place = nullptr;
  {
    SpinlockHolder holder(lock_);
    if (!MakeWay(span->pages, pages, &mapped, &place)) return nullptr;
  }
  char* start = MapAligned(mapped * kPageBytes, place);
  if (start == nullptr) start = MapAligned((mapped = pages) * kPageBytes);
  if (start == nullptr) return nullptr;
  Span* moved = nullptr;
  Span* rest = nullptr;
  {
    SpinlockHolder holder(lock_);
    if (PageMap::Reserve(PageOf(start), mapped) && ReserveSpans(2)) {
      moved = NewSpan(PageOf(start), pages);
      if (mapped > pages) rest = NewSpan(moved->end(), mapped - pages);
      if (!AttachRecords(moved, 1)) {
        if (rest != nullptr) DeleteSpan(rest);
        DeleteSpan(moved);
        moved = nullptr;
      }
    }
  }
  if (moved == nullptr) {
    os::Unmap(start, mapped * kPageBytes);
    return nullptr;
  }
  const bool done = os::MovePages(span->start(), span->pages * kPageBytes, start, mapped * kPageBytes);
  // What made way is not to leave a hole among the heap's addresses.
  const bool back = !done && place == start && MapThere(start, mapped * kPageBytes);
  SpinlockHolder holder(lock_);
  if (!done) {
    DetachRecords(moved);
    if (rest != nullptr) DeleteSpan(rest);
    DeleteSpan(moved);
    if (back) AddFree(PageOf(start), mapped);
    return nullptr;
  }
  span->moved_away = true;
  AddRegion(PageOf(start), mapped);
  EnterEnds(moved);
  CountLarge(moved);
  if (rest == nullptr) return moved;
  rest->free.resident = 0;
  InsertMerged(rest);
  return moved;
}

// Where a block of `held` pages moves to: any fresh pages, or while much is free those at a place that the longest free span
// leaves to them, so that the addresses become no more. False: there is free memory, which is to be used first.
bool PageHeap::MakeWay(Pages held, Pages pages, Pages* wanted, char** place) {
  if (free_.FindResident(pages, RoomToGrow(pages), pages).span != nullptr) return false;
  Span* span = free_.Longest();
  // In the last case a copy would take fresh pages too.
  if (free_.pages() <= system_ / 2 || span->pages < RoomToGrow(pages)) return true;
  Pages unit = kMovedUnit;
  while (unit < system_ / kSystemShareMoved) unit *= 2;
  const PageId first = RoundUp(span->page, unit);
  const PageId end = Min(RoundDown(span->end(), unit), first + RoundUp(*wanted, unit));
  if (end < first + RoomToGrow(pages) || PageMap::CountResident(first, end - first) > held / 2) return false;
  if (!ReserveSpans(2) || !Unmap(CutOut(span, first - span->page, end - first))) return false;
  *place = AddressOf(first);
  *wanted = end - first;
  return true;
}

void PageHeap::Free(Span* span) {
  if (span->state == SpanState::kLarge && span->mapped) return FreeMapped(span);
  // Long objects are released before the lock is taken: it takes milliseconds.
  const SystemPages inner(span);
  const bool moved_away = span->state == SpanState::kLarge && span->moved_away;
  const bool released = moved_away || (pace_.AtOnce(span->pages) && inner.Release());
  SpinlockHolder holder(lock_);
  if (span->state == SpanState::kLarge) {
    UncountLarge(span);
  } else {
    --small_spans_[span->size_class];
    PageMap::SetClass(span->page, span->marked_pages(), 0);
    if (span->records != nullptr) RecordMap::Remove(*span);
  }
  DetachRecords(span);
  PageMap::SetState(span->page, span->pages, PageState::kResident);
  span->free.resident = span->pages;
  if (released) {
    PageMap::SetState(inner.first, inner.count(), PageState::kClean);
    span->free.resident -= inner.count();
  }
  const bool look = pace_.OnFree(span->pages);
  InsertMerged(span);
  if (look) Release(os::CoarseNanoseconds());
}

bool PageHeap::Resize(Span* span, Pages pages) {
  if (pages == span->pages) return true;
  if (span->mapped) return ResizeMapped(span, pages);
  SpinlockHolder holder(lock_);
  if (!ReserveSpans(1)) return false;
  if (pages < span->pages) {
    Span* rest = NewSpan(span->page + pages, span->pages - pages);
    large_ -= rest->pages;
    span->pages = pages;
    PageMap::SetState(rest->page, rest->pages, PageState::kResident);
    rest->free.resident = rest->pages;
    EnterEnds(span);
    InsertMerged(rest);
    return true;
  }
  const Pages more = pages - span->pages;
  Span* next = FreeNeighbour(span->end());
  if (next == nullptr || next->pages < more) return false;
  const Pages resident = free_.resident();
  free_.Remove(next);
  if (next->pages > more) {
    const Pages taken = ResidentIn(next, more);
    Span* rest = NewSpan(next->page + more, next->pages - more);
    rest->free.resident = next->free.resident - taken;
    EnterEnds(rest);
    free_.Insert(rest);
  }
  DeleteSpan(next);
  pace_.OnAllocate(resident - free_.resident(), free_.resident());
  span->pages = pages;
  large_ += more;
  EnterEnds(span);
  return true;
}

void PageHeap::SetReleasePolicy(const ReleasePolicy& policy) {
  SpinlockHolder holder(lock_);
  pace_.SetPolicy(policy);
  NoteWanted();
}

ReleasePolicy PageHeap::release_policy() {
  SpinlockHolder holder(lock_);
  return pace_.policy();
}

bool PageHeap::ReleaseDownTo(Pages keep) {
  SpinlockHolder holder(lock_);
  const auto resident = [this] { return free_.resident() + kept_.resident(); };
  const Pages before = resident();
  while (kept_.count() != 0 && resident() > keep) UnmapKept(kept_.Oldest());
  if (resident() > keep) ReleaseSome(resident() - keep);
  return resident() < before;
}

void PageHeap::ReleaseDue(uint64_t now_nanoseconds) {
  SpinlockHolder holder(lock_);
  Release(now_nanoseconds);
}

void* PageHeap::AllocateMetadata(size_t bytes, size_t alignment, MetadataArena::Use use) {
  SpinlockHolder holder(lock_);
  return metadata_.Allocate(bytes, alignment, use);
}

PageHeap::Totals PageHeap::GetTotals() {
  SpinlockHolder holder(lock_);
  Totals totals = {};
  totals.system = system_;
  totals.most_system = most_system_;
  totals.free = free_pages();
  totals.returned = free_pages() - free_.resident() - kept_.resident();
  totals.large_count = large_count_;
  totals.large = large_;
  totals.metadata_bytes = metadata_.bytes() + PageMap::MetadataBytes() + RecordMap::MetadataBytes();
  totals.free_spans = free_.spans() + kept_.count();
  for (SizeClass c = 1; c < kClassCount; ++c) totals.small_spans[c] = small_spans_[c];
  return totals;
}

size_t PageHeap::MetadataResidentBytes() {
  const MetadataArena::Region* region;
  size_t bytes;
  {
    SpinlockHolder holder(lock_);
    region = metadata_.regions();
    bytes = PageMap::ResidentBytes() + RecordMap::ResidentBytes();
  }
  for (; region != nullptr; region = region->next) bytes += os::ResidentBytes(region, region->bytes);
  return bytes;
}

Span* PageHeap::TakeRun(Pages pages, Pages alignment, Growth growth) {
  if (!ReserveSpans(2)) return nullptr;
  const Pages enough = pages + alignment - 1;
  Span* span = free_.FindBestFit(enough);
  if (span == nullptr) {
    if (growth == Growth::kForbidden) return nullptr;
    if (!Grow(enough, 0) && (growth == Growth::kAllowed || !GrowInExchange(enough))) return nullptr;
    span = free_.FindBestFit(enough);
  }
  return Cut(span, pages, alignment);
}

// Takes `pages` pages for a block.
Span* PageHeap::Cut(Span* span, Pages pages, Pages alignment) {
  return CutAt({span, RoundUp(span->page, alignment) - span->page}, pages);
}

Span* PageHeap::CutAt(FreePages::Place place, Pages pages) {
  Span* const span = CutOut(place.span, place.lead, pages);
  pace_.OnAllocate(span->free.resident, free_.resident());
  const Pages fresh = span->pages - span->free.resident;
  CountFresh(fresh);
  if (pace_.OnFresh(fresh)) {
    ReleaseSome(pace_.InExchange(os::CoarseNanoseconds(), free_.releasable(), system_));
  }
  if (wants_visits()) NoteWanted();
  EnterEnds(span);
  return span;
}

// Takes `pages` pages out of a free span, behind the first `lead`. What is left in front and behind needs a span each: REQUIRES
// two reserved.
Span* PageHeap::CutOut(Span* span, Pages lead, Pages pages) {
  free_.Remove(span);
  // Splits off the first `count` pages, which stay in `span`; returns the rest.
  const auto split = [this, &span](Pages count) {
    const Pages resident = ResidentIn(span, count);
    Span* rest = NewSpan(span->page + count, span->pages - count);
    rest->free.resident = span->free.resident - resident;
    span->pages = count;
    span->free.resident = resident;
    return rest;
  };
  const auto put_back = [this](Span* rest) {
    EnterEnds(rest);
    free_.Insert(rest);
  };
  if (lead > 0) {
    Span* const behind = split(lead);
    put_back(span);
    span = behind;
  }
  if (span->pages > pages) put_back(split(pages));
  return span;
}

void PageHeap::CountFresh(Pages pages) {
  fresh_ += pages;
  if (fresh_ < Max(kLeastFreshPerSign, system_ / kFreshShare)) return;
  fresh_ = 0;
  __atomic_store_n(&took_fresh_, true, __ATOMIC_RELAXED);
}

// Maps at least `pages`, better `wish` pages.
bool PageHeap::Grow(Pages pages, Pages wish) {
  if (!ReserveSpans(3)) return false;
  const size_t unit = Max(os::PageSize(), kPageBytes);
  const Pages ahead = Clamp(system_ / kGrowthShare, kFirstGrowth, kLargestGrowth);
  wish = Max(Max(pages, wish), os::AheadOfUse(ahead * kPageBytes) / kPageBytes);
  size_t bytes = RoundUp(wish * kPageBytes, unit);
  char* start = MapAligned(bytes);
  if (start == nullptr && wish > pages) {
    bytes = RoundUp(pages * kPageBytes, unit);
    start = MapAligned(bytes);
  }
  if (start == nullptr) return false;
  KeepOneLeaf(&start, &bytes, RoundUp(pages * kPageBytes, unit));
  const PageId page = PageOf(start);
  const Pages count = bytes / kPageBytes;
  if (!PageMap::Reserve(page, count)) {
    os::Unmap(start, bytes);
    return false;
  }
  // The first memory finds nothing that could go back.
  if (system_ != 0) __atomic_store_n(&took_fresh_, true, __ATOMIC_RELAXED);
  pace_.OnGrowth(count);
  AddFree(page, count);
  return true;
}

// Where the system refuses more (a limit of address space, its rules of overcommit), though what is free would do if it
// lay together: the longest free spans give up their addresses until it refuses no more.
MALLOW_COLD bool PageHeap::GrowInExchange(Pages pages) {
  if (UnmapAllKept() && Grow(pages, 0)) return true;
  // What not even all of them could bring costs nobody anything.
  if (pages > free_.pages()) {
    const size_t beyond = (pages - free_.pages()) * kPageBytes;
    void* const probe = os::Map(nullptr, beyond);
    if (probe == nullptr) return false;
    os::Unmap(probe, beyond);
  }
  const Pages least = Min(kLeastUnmapped, system_ / kShareUnmapped);
  for (;;) {
    Span* const span = free_.Longest();
    if (span == nullptr || span->pages < least || !Unmap(CutOut(span, 0, span->pages))) return false;
    if (Grow(pages, 0)) return true;
  }
}

// What was cut out of a free span is no longer ours. False: it is free as it was, but may be taken for resident.
bool PageHeap::Unmap(Span* span) {
  const SystemPages inner(span);
  if (inner.count() != span->pages) {
    InsertMerged(span);
    return false;
  }
  // Before another thread can be given the addresses.
  PageMap::SetState(span->page, span->pages, PageState::kForeign);
  if (os::Unmap(span->start(), span->pages * kPageBytes)) {
    __atomic_store_n(&system_, system_ - span->pages, __ATOMIC_RELAXED);
    DeleteSpan(span);
    return true;
  }
  PageMap::SetState(span->page, span->pages, PageState::kResident);
  span->free.resident = span->pages;
  InsertMerged(span);
  return false;
}

void PageHeap::AddRegion(PageId page, Pages pages) {
  PageMap::SetState(page, pages, PageState::kClean);
  __atomic_store_n(&system_, system_ + pages, __ATOMIC_RELAXED);
  most_system_ = Max(most_system_, system_);
}

// Fresh pages that nobody has asked for. REQUIRES a reserved span.
void PageHeap::AddFree(PageId page, Pages pages) {
  AddRegion(page, pages);
  Span* span = NewSpan(page, pages);
  span->free.resident = 0;
  InsertMerged(span);
}

// Merges with free neighbours and inserts.
void PageHeap::InsertMerged(Span* span) {
  if (Span* before = FreeNeighbour(span->page - 1)) {
    free_.Remove(before);
    span->page = before->page;
    span->pages += before->pages;
    span->free.resident += before->free.resident;
    DeleteSpan(before);
  }
  if (Span* behind = FreeNeighbour(span->end())) {
    free_.Remove(behind);
    span->pages += behind->pages;
    span->free.resident += behind->free.resident;
    DeleteSpan(behind);
  }
  EnterEnds(span);
  free_.Insert(span);
}

// The free span that has `page` as its first or last page, or null.
Span* PageHeap::FreeNeighbour(PageId page) {
  if (PageMap::StateOf(page) == PageState::kForeign) return nullptr;
  Span* span = PageMap::SpanOf(page);
  return span->State() == SpanState::kFree ? span : nullptr;
}

bool PageHeap::ReserveSpans(int count) {
  Span** last = &spare_spans_;
  for (int have = 0; have < count; ++have, last = &(*last)->links.next) {
    if (*last == nullptr && (*last = MakeSpans()) == nullptr) return false;
  }
  return true;
}

// Some that nobody uses, linked. With side records many at a time: else an array of these, of pages of which little is
// touched, would lie between any two spans.
Span* PageHeap::MakeSpans() {
  size_t count = record_bytes_ != 0 ? kSpansAtOnce : 1;
  void* memory = metadata_.Allocate(count * sizeof(Span), alignof(Span));
  if (memory == nullptr && count > 1) memory = metadata_.Allocate((count = 1) * sizeof(Span), alignof(Span));
  if (memory == nullptr) return nullptr;
  Span* const spans = static_cast<Span*>(memory);
  for (size_t i = 0; i < count; ++i) spans[i].links.next = i + 1 < count ? &spans[i + 1] : nullptr;
  return spans;
}

Span* PageHeap::NewSpan(PageId page, Pages pages) {
  Span* span = spare_spans_;
  MALLOW_DCHECK(span != nullptr);
  spare_spans_ = span->links.next;
  span->state = SpanState::kUnused;
  span->page = page;
  span->pages = pages;
  span->records = nullptr;
  return span;
}

void PageHeap::DeleteSpan(Span* span) {
  span->state = SpanState::kUnused;
  span->links.next = spare_spans_;
  spare_spans_ = span;
}

bool PageHeap::AttachRecords(Span* span, size_t objects) {
  span->records = record_bytes_ == 0 ? nullptr : NewRecords(span, objects);
  return span->records != nullptr || record_bytes_ == 0;
}

char* PageHeap::NewRecords(Span* span, size_t objects) {
  const size_t bytes = objects * array_record_bytes_;
  // The array is taken before the upper half is used: a failure must leave the free part of the span as it was.
  char* const records = bytes <= kInlineRecordBytes ? span->inline_records()
                                                    : static_cast<char*>(metadata_.AllocateArray(bytes));
  if (clear_records_ && records != nullptr) memset(records, 0, bytes);
  return records;
}

void PageHeap::RecordFromNowOn(size_t bytes) {
  SpinlockHolder holder(lock_);
  MALLOW_CHECK(bytes == 0 || array_record_bytes_ == 0 || bytes == array_record_bytes_);
  if (bytes != 0) array_record_bytes_ = bytes;
  record_bytes_ = bytes;
  clear_records_ = true;
}

bool PageHeap::MakeRecords(Span* span) {
  SpinlockHolder holder(lock_);
  if (span->records != nullptr) return true;
  char* const records = NewRecords(span, span->state == SpanState::kSmall ? span->objects : 1);
  __atomic_store_n(&span->records, records, __ATOMIC_RELEASE);
  if (records != nullptr && span->state == SpanState::kSmall) RecordMap::Enter(*span);
  return records != nullptr;
}

void PageHeap::ClearRecords() {
  SpinlockHolder holder(lock_);
  PageMap::ForEachEntry([this](PageId page, Span* span) {
    const bool holds_objects = span->state != SpanState::kUnused && span->state != SpanState::kFree;
    if (page == span->page && holds_objects && span->records != nullptr)
      memset(span->records, 0, span->objects * array_record_bytes_);
  });
}

void PageHeap::DetachRecords(Span* span) {
  if (span->records == nullptr || span->records == span->inline_records()) return;
  metadata_.FreeArray(span->records, span->objects * array_record_bytes_);
}

// Gives about `most` resident pages of a free span back, less only when there are no more. Returns how many.
Pages PageHeap::ReleaseResident(Span* span, Pages most) {
  const SystemPages inner(span);
  int refusals = kMostRefusals;
  Pages released = 0;
  PageId page = span->page;
  while (page < span->end() && released < most) {
    const PageId run_end = page + PageMap::RunLength(page, span->end() - page);
    if (PageMap::StateOf(page) == PageState::kClean) {
      page = run_end;
      continue;
    }
    const SystemPages part = inner.Around(page, Min(run_end, page + (most - released)));
    released += ReleaseParts(part, &refusals);
    page = part.count() > 0 ? Max(part.last, page + 1) : run_end;
  }
  return released;
}

void PageHeap::ReleaseSome(Pages pages) {
  Pages released = 0;
  while (released < pages) {
    Span* span = free_.Oldest();
    if (span == nullptr) return;
    const Pages wanted = pages - released;
    const Pages freed = ReleaseResident(span, wanted);
    free_.Released(span, freed, freed < wanted);
    released += freed;
  }
}

void PageHeap::Release(uint64_t now_nanoseconds) {
  if (pace_.IntervalIsOver(now_nanoseconds)) {
    while (Span* const idle = kept_.Idle()) UnmapKept(idle);
    kept_.Age();
  }
  const Pages due = pace_.Due(now_nanoseconds, free_.resident());
  if (due > 0) {
    ReleaseSome(due);
    __atomic_store_n(&tick_, true, __ATOMIC_RELAXED);
  }
  NoteWanted();
}

void PageHeap::NoteWanted() {
  const Pages idle = free_.releasable() + kept_.resident();
  __atomic_store_n(&wants_visits_, pace_.Wanted(idle), __ATOMIC_RELAXED);
  __atomic_store_n(&wants_visits_of_all_, pace_.WantedOfAll(idle, system_ - free_pages()), __ATOMIC_RELAXED);
}

bool PageHeap::IsValid() {
  SpinlockHolder holder(lock_);
  return free_.IsValid() && kept_.IsValid() && free_pages() + large_ <= system_;
}

}  // namespace mallow::heap
