// What one thread needs to record: its shard in the recording, where its counter records lie, its stack cache.
//
// A thread recorder and its shard stay together for good. When the thread ends both are handed to the next
// thread that comes, and go on adding.
//
// Invariants
//  T1  Only the owning thread writes its shard and its counter pages, by plain stores.
//  T2  `busy` is set while the owner is inside the recorder: a signal handler that allocates meanwhile must not touch
//      the counters (it would tear a read-modify-write) and is counted in the header's lost_calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/config.h"
#include "base/hash.h"
#include "record/event_stream.h"
#include "record/image_format.h"
#include "record/module_generation.h"
#include "record/region.h"
#include "record/stack_cache.h"
#include "record/stack_table.h"
#include "record/timeline.h"

namespace mallow::record {

struct ThreadRecorder;
// The calling thread's; null: not made yet; kUnrecordable: there is no shard for it, and it does not ask again;
// kEnded: its exit hook ran, and what libc still frees for it is counted in a recorder borrowed for each call, because
// nothing would tell when to hand one back.
extern MALLOW_THREAD_LOCAL ThreadRecorder* t_recorder;
inline bool IsRecorder(const ThreadRecorder* recorder) { return reinterpret_cast<uintptr_t>(recorder) > 2; }

struct ThreadRecorder {
  static constexpr size_t kRecordBytes = kCounterPageBytes / kCountersPerPage;
  // Where the counter pages of the kinds from traits to reallocs lie, of stacks that are neighbours.
  struct PageRow {
    static constexpr size_t kFirstKind = static_cast<size_t>(CounterKind::kTraits);
    static constexpr size_t kLastKind = static_cast<size_t>(CounterKind::kReallocs);

    char* of_kind[kLastKind + 1 - kFirstKind];
  };
  template <typename T>
  struct Table {
    T* items;
    size_t capacity;
  };

  // Return address of a free -> its node, a child of the root, and the stack of a free(NULL) there; direct-mapped.
  struct CallerSlot {
    uintptr_t pc;
    uint64_t generation;  // of the loaded objects
    NodeId node;
    StackId null_stack;  // kNoStack: not asked for yet

    bool IsOf(uintptr_t caller) const { return pc == caller && generation == ModuleGeneration(); }
  };

  bool is_first() const { return shard == first_shard; }

  // Counter records of a stack; with no room in the file those of stack 0, which always exist.
  Counts& CountsOf(StackId stack) {
    Counts* const counts = KnownCountsOf(stack);
    return MALLOW_LIKELY(counts != nullptr) ? *counts : NewCounts(StackIndex(stack));
  }
  // With no room in the file one that nobody reads.
  Traits& TraitsOf(StackId stack) { return Of<Traits>(CounterKind::kTraits, stack); }
  Lifetimes& LifetimesOf(StackId stack) { return Of<Lifetimes>(CounterKind::kLifetimes, stack); }
  Lifetimes& LifetimeCarriesOf(StackId stack) { return Of<Lifetimes>(CounterKind::kLifetimeCarries, stack); }
  Reallocs& ReallocsOf(StackId stack) { return Of<Reallocs>(CounterKind::kReallocs, stack); }

  // Looks at the clock.
  void Look();
  // For the timeline, after a look.
  void NoteChange(StackId stack, int64_t bytes);
  CallerSlot& CallerAt(uintptr_t pc);
  // Where that one would lie.
  CallerSlot& SlotOfCaller(uintptr_t pc) { return caller_slots[HashToTop(pc) >> (64 - kCallerSlotBits)]; }
  // Where the stack has its own record, which stays there while the thread has this shard; null: it has none.
  MALLOW_ALWAYS_INLINE Counts* KnownCountsOf(StackId stack) const {
    return KnownRecord<Counts>(counts_pages, StackIndex(stack));
  }

  // Asks for what NoteBirth writes, or NoteDeath: most of their time they would wait for it.
  MALLOW_ALWAYS_INLINE void PrefetchForBirth(StackId stack) const { Prefetch(CounterKind::kTraits, stack); }
  MALLOW_ALWAYS_INLINE void PrefetchForDeath(StackId stack) const {
    Prefetch(CounterKind::kTraits, stack);
    Prefetch(CounterKind::kLifetimes, stack);
  }

  // A thread's figures of a region; null for none, and when there is no room.
  RegionFigures* FiguresOf(RegionId region) {
    return region == kNoRegion ? nullptr
                               : ExtraRecord<RegionFigures>(region_pages, CounterKind::kRegions, region);
  }

  // What the thread's samples of a stack stand for; null when there is no room.
  Weights* WeightsOf(StackId stack) {
    return ExtraRecord<Weights>(weight_pages, CounterKind::kWeights, StackIndex(stack));
  }

  // What few stacks have; null when there is no room.
  RareCounts* RareCountsOf(StackId stack) {
    return ExtraRecord<RareCounts>(rare_pages, CounterKind::kRareCounts, StackIndex(stack));
  }
  const RareCounts* KnownRareCountsOf(StackId stack) const {
    return KnownRecord<RareCounts>(rare_pages, StackIndex(stack));
  }

  // What every call looks at, in two cache lines.
  Shard* shard;
  Shard* first_shard;  // of the process: its live bytes are always exact
  Header* header;
  uint64_t session;  // of the process, in which it has its shard
  uint64_t origin;   // of side records of its blocks, see Tag::OriginOf
  uint32_t number;   // of the shard, counted on from the parent's
  // One word, because nearly every call asks only whether all of it is zero.
  struct State {
    bool busy;
    bool borrowed;     // for one call, by a thread whose exit hook ran
    Function wrapped;  // not kNone: what this thread's next allocations count as
    bool logging;      // a log was kept at some time

    bool is_plain() const {
      uint32_t all;
      __builtin_memcpy(&all, this, sizeof(all));
      return all == 0;
    }
    // Of one that is plain but for `busy`. Written as it is read, so that the processor need not put the word together.
    void SetBusy(bool now) {
      const State all = {now, false, Function::kNone, false};
      __builtin_memcpy(this, &all, sizeof(all));
    }
  } state;
  static_assert(sizeof(State) == sizeof(uint32_t));
  EventStream* log;          // null: no log is kept, or it has ended
  const void* newest_block;  // of the last allocation, for "temporary"
  StackId last_born;         // stack of the last allocation, 0 before the first
  uint32_t run;              // allocations in a row with that stack
  StackId last_freed;        // stack of the block that the thread released last, 0 before the first
  bool full;                 // no room for another page of the rarer kinds
  // Where the thread's counter pages lie, by stack / 64; null where there is none yet. That of the counts of item 0 always
  // is. These have a table of their own, which is small enough to stay in the first cache.
  Table<char*> counts_pages;
  OpenRegions regions;
  Table<PageRow> rows;

  Registers wrapped_caller;
  uint64_t wrapped_argument;
  uint32_t now_ms;            // since the file was made, as of the last look at the clock
  uint64_t events_at_sample;  // of the timeline
  Changes changes;
  int64_t flushed_live, flushed_live_libc;

  Table<char*> region_pages;  // by region / 64; empty before the first one
  Table<char*> weight_pages;  // by stack / 64; empty before the first sample
  Table<char*> rare_pages;    // by stack / 64; empty before the first of them

  static constexpr unsigned kCallerSlotBits = 11;
  CallerSlot caller_slots[1 << kCallerSlotBits];

  StackCache stack_cache;
  ThreadRecorder* next_free;
  ThreadRecorder* next_of_all;

 private:
  template <typename T>
  static MALLOW_ALWAYS_INLINE T* KnownRecord(const Table<char*>& table, uint32_t index) {
    const size_t at = index / kCountersPerPage;
    char* const page = MALLOW_LIKELY(at < table.capacity) ? table.items[at] : nullptr;
    return MALLOW_UNLIKELY(page == nullptr) ? nullptr : reinterpret_cast<T*>(page) + index % kCountersPerPage;
  }
  template <typename T>
  T* ExtraRecord(Table<char*>& table, CounterKind kind, uint32_t index) {
    T* const known = KnownRecord<T>(table, index);
    if (MALLOW_LIKELY(known != nullptr)) return known;
    char* const page = NewExtraPage(table, kind, index);
    return page == nullptr ? nullptr : reinterpret_cast<T*>(page) + index % kCountersPerPage;
  }
  // A page of the file, with room for it in the table; null when there is none.
  template <typename T>
  char* NewPageFor(Table<T>& table, CounterKind kind, uint32_t index);
  // Null when there is no room; counts that.
  char* NewExtraPage(Table<char*>& table, CounterKind kind, uint32_t index);

  template <typename T>
  MALLOW_ALWAYS_INLINE T& Of(CounterKind kind, StackId stack) {
    static_assert(sizeof(T) == kRecordBytes);
    const uint32_t index = StackIndex(stack);
    const size_t at = index / kCountersPerPage;
    char* page = MALLOW_LIKELY(at < rows.capacity) ? PageOf(rows.items[at], kind) : nullptr;
    if (MALLOW_UNLIKELY(page == nullptr)) return *static_cast<T*>(NewRecord(kind, index));
    return *reinterpret_cast<T*>(page + size_t{index} * kRecordBytes % kCounterPageBytes);
  }
  MALLOW_ALWAYS_INLINE void Prefetch(CounterKind kind, StackId stack) const {
    const uint32_t index = StackIndex(stack);
    const size_t at = index / kCountersPerPage;
    if (MALLOW_UNLIKELY(at >= rows.capacity)) return;
    const char* const page = PageOf(rows.items[at], kind);
    if (page != nullptr) __builtin_prefetch(page + size_t{index} * kRecordBytes % kCounterPageBytes, 1);
  }
  static char*& PageOf(PageRow& row, CounterKind kind) {
    return row.of_kind[static_cast<size_t>(kind) - PageRow::kFirstKind];
  }
  // The same where there is no page yet.
  MALLOW_COLD void* NewRecord(CounterKind kind, uint32_t index);
  MALLOW_COLD Counts& NewCounts(uint32_t index);

  alignas(kCacheLineBytes) char unread_[kRecordBytes];  // a record for which there is no room
};

}  // namespace mallow::record
