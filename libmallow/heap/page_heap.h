// The page heap: all memory for blocks, in spans of whole pages. Splits, merges, grows, and gives back.
//
// Synchronisation: one lock, the highest in rank; no other lock of the heap is ever wanted by who holds it, and
// nobody waits for it while holding another. So a fork from a signal handler can always get every lock that its own
// thread does not hold.
//
// Invariants:
//   1. Every page of ours belongs to exactly one span; the page map finds it at its first and last page. Of a mapped span it
//      knows no others.
//   2. Two free spans never touch.
//   3. A page whose state is kClean reads as zero while its span is free, and until the program writes it.
//   4. When a system call or the metadata fails, the operation returns null or false and nothing has changed.
#pragma once

#include "base/spinlock.h"
#include "heap/free_pages.h"
#include "heap/kept_mappings.h"
#include "heap/metadata_arena.h"
#include "heap/release.h"
#include "heap/span.h"

namespace mallow::heap {

class PageHeap {
 public:
  struct Totals {
    Pages system;        // of ours, mapped
    Pages most_system;   // so far
    Pages free;          // in free spans, and in kept mappings
    Pages returned;      // of those, not holding memory; of kept mappings an estimate
    size_t large_count;  // live large spans
    Pages large;
    size_t metadata_bytes;
    size_t free_spans;
    size_t small_spans[kClassCount];
  };

  constexpr PageHeap() = default;

  // Every object of later spans gets a side record of so many bytes. Before the first span only.
  void SetRecordBytes(size_t bytes) { record_bytes_ = array_record_bytes_ = bytes; }
  // The same at any time, and cleared; 0 ends it. See heap.h.
  void RecordFromNowOn(size_t bytes);
  // Of any object that has one.
  size_t record_bytes() const { return array_record_bytes_; }
  // Gives all objects of a live span a cleared record, unless they have one. False: no memory.
  bool MakeRecords(Span* span);
  // Those of all objects.
  void ClearRecords();

  // Whether memory may come from the system when none that is free will do; and, where it has no more, in exchange for the
  // addresses of what is free.
  enum class Growth { kForbidden, kAllowed, kInExchange };

  // A span of the class with all its bits set. Null: no memory.
  Span* AllocateSmall(SizeClass size_class, Growth growth = Growth::kAllowed);
  // A large span that starts at a multiple of `alignment` pages (a power of two). If pages or alignment are kLeastMapped at
  // least, it is a mapped one, unless free pages will do, or its pages are not to go back as soon as it is freed: alone in a
  // mapping that comes and goes with it, so that a block of which little is touched takes little memory, however long it
  // is. The page map takes a byte for each KiB. Where little of it is in memory as it is freed, the mapping may serve the
  // next such block (kept_mappings.h).
  Span* AllocateLarge(Pages pages, Pages alignment, Growth growth = Growth::kAllowed);
  // A large span that is likely to grow: in memory that is free, and with free pages behind it, as far as they can be had.
  Span* AllocateGrowing(Pages pages);
  // A longer large span that has the pages of this one, moved without a copy; this one keeps its place and is
  // to be freed. Null: it does not pay, or cannot be, and nothing has changed.
  Span* MoveLarge(Span* span, Pages pages);
  static constexpr Pages kLeastMapped = 64 * 1024 * 1024 / kPageBytes;
  // Takes back a small or large span. `may_release`: idle memory may go back to the system on the way.
  void Free(Span* span);

  // Changes the length of a large span without moving it. False: it cannot grow in place.
  bool Resize(Span* span, Pages pages);

  // How idle memory goes back; see release.h.
  void SetReleasePolicy(const ReleasePolicy& policy);
  ReleasePolicy release_policy();
  // Gives memory of free spans back until at most `keep` free pages hold some. True if anything was.
  bool ReleaseDownTo(Pages keep);
  // Gives back what is due by now, see release.h.
  void ReleaseDue(uint64_t now_nanoseconds);
  // Whether enough is mapped for much to be idle; read without the lock.
  bool MayHoldMuch() const { return pace_.IsMuch(system_pages()); }
  // Whether anything may be due; read without the lock.
  bool IntervalIsOver(uint64_t now_nanoseconds) const { return pace_.IntervalIsOver(now_nanoseconds); }
  // Pages of objects that may wait for their next use; of more each goes back at once. Read without the lock.
  Pages MostKept() const { return pace_.MostKept(); }
  uint64_t release_interval() const { return pace_.interval(); }
  // True while threads ought to call ReleaseDue, read without the lock.
  bool wants_visits() const { return __atomic_load_n(&wants_visits_, __ATOMIC_RELAXED); }

  // The same of threads that nothing leads to a slow path.
  bool wants_visits_of_all() const { return __atomic_load_n(&wants_visits_of_all_, __ATOMIC_RELAXED); }

  // Memory for the heap's own structures; see MetadataArena.
  void* AllocateMetadata(size_t bytes, size_t alignment, MetadataArena::Use use = MetadataArena::Use::kDense);

  Totals GetTotals();
  // Bytes of our own structures that are in memory at present: some system calls.
  size_t MetadataResidentBytes();
  // Pages of ours, mapped from the system; read without the lock.
  Pages system_pages() const { return __atomic_load_n(&system_, __ATOMIC_RELAXED); }
  // True once per interval in which memory was freed: the sign for other caches to return what is idle.
  bool TakeTick() { return Take(&tick_); }
  // True once after the heap had to grow, or took as fresh as much of what it had given back: the sign for other caches
  // to empty themselves, so that spans become whole and serve instead.
  bool TakeFreshSign() { return Take(&took_fresh_); }

  Spinlock& lock() { return lock_; }

  // Walks everything: for tests and checks only.
  bool IsValid();
  // For tests: from which length on large spans are mapped ones.
  void SetLeastMapped(Pages pages) { least_mapped_ = pages; }

 private:
  // All REQUIRE the lock.
  Span* TakeRun(Pages pages, Pages alignment, Growth growth);
  Span* Cut(Span* span, Pages pages, Pages alignment);
  Span* CutAt(FreePages::Place place, Pages pages);
  Span* CutOut(Span* span, Pages lead, Pages pages);
  Span* MakeLarge(Span* span);
  void CountLarge(Span* span);
  void UncountLarge(Span* span);
  void CountFresh(Pages pages);
  bool MakeWay(Pages held, Pages pages, Pages* wanted, char** place);
  bool Grow(Pages pages, Pages wish);
  bool GrowInExchange(Pages pages);
  bool Unmap(Span* span);
  void AddRegion(PageId page, Pages pages);
  void AddFree(PageId page, Pages pages);
  void InsertMerged(Span* span);
  Span* FreeNeighbour(PageId page);
  bool ReserveSpans(int count);
  Span* MakeSpans();
  Span* NewSpan(PageId page, Pages pages);
  void DeleteSpan(Span* span);
  bool AttachRecords(Span* span, size_t objects);
  char* NewRecords(Span* span, size_t objects);
  void DetachRecords(Span* span);
  Pages ReleaseResident(Span* span, Pages most);
  void ReleaseSome(Pages pages);
  void Release(uint64_t now_nanoseconds);
  void NoteWanted();

  // Of mapped spans; these do not require the lock.
  bool WantsMapping(Pages pages) const { return pages >= least_mapped_ && pace_.AtOnce(pages); }
  Span* AllocateMapped(Pages pages, Pages alignment, Pages room);
  Span* AllocateKept(Pages pages);
  Span* TakeKept(Pages pages);
  Span* MoveToMapped(Span* span, Pages pages, Pages room, bool needed);
  bool MayBeKept(Span* span) const;
  bool GiveUpKept();
  void FreeMapped(Span* span);
  bool ResizeMapped(Span* span, Pages pages);
  bool ShrinkMapped(Span* span, Pages pages);
  void UnmapOrKeep(PageId page, Pages pages);
  // These do.
  Span* NewMapped(PageId page, Pages pages, Pages room);
  void SetMappedPages(Span* span, Pages pages);
  void EnterMapped(Span* span);
  void DeleteMapped(Span* span);
  void KeepRefused(PageId page, Pages pages);
  void UnmapKept(Span* span);
  bool UnmapAllKept();
  Pages free_pages() const { return free_.pages() + kept_.pages(); }

  static bool Take(bool* sign) {
    return __atomic_load_n(sign, __ATOMIC_RELAXED) && __atomic_exchange_n(sign, false, __ATOMIC_RELAXED);
  }

  Spinlock lock_{LockRank::kPageHeap};
  bool tick_ = false;
  bool took_fresh_ = false;
  bool wants_visits_ = false;
  bool wants_visits_of_all_ = false;
  size_t record_bytes_ = 0;        // of new spans
  size_t array_record_bytes_ = 0;  // of those that have records
  bool clear_records_ = false;
  FreePages free_;
  KeptMappings kept_;
  ReleasePace pace_;
  MetadataArena metadata_;
  Span* spare_spans_ = nullptr;
  Pages system_ = 0;
  Pages most_system_ = 0;
  size_t large_count_ = 0;
  Pages large_ = 0;
  Pages least_mapped_ = kLeastMapped;
  Pages fresh_ = 0;  // taken since the last sign
  uint32_t small_spans_[kClassCount] = {};
};

extern PageHeap page_heap;

}  // namespace mallow::heap
