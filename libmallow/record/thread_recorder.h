// What one thread needs to record: its shard in the recording, where its counter records lie, its stack cache.
//
// A thread recorder and its shard stay together for good. When the thread ends both are handed to the next
// thread that comes, and go on adding. Blocks tell by the number of their thread, their owner, whose they are.
//
// Invariants
//  T1  Only the owning thread writes its shard and its counter pages, by plain stores.
//  T2  `busy` is set while the owner is inside the recorder: a signal handler that allocates meanwhile must not touch
//      the counters (it would tear a read-modify-write) and is counted in the header's lost_calls.
#pragma once

#include <array>
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
// The calling thread's; null: not made yet; RefusedIn: there is no shard for it; kEnded: its exit hook ran, and what
// libc still frees for it is counted in a recorder borrowed for each call, because nothing would tell when to hand one
// back.
extern MALLOW_THREAD_LOCAL ThreadRecorder* t_recorder;
inline constexpr uintptr_t kLeastRecorder = 4096;  // nothing lies in the first page
inline bool IsRecorder(const ThreadRecorder* recorder) {
  return reinterpret_cast<uintptr_t>(recorder) >= kLeastRecorder;
}

// Of a recorder for one call: to a thread that has none any more, because its exit hook ran, or none yet.
enum class Loan : uint8_t { kNone, kToEnded, kToNew };

struct ThreadRecorder {
  static constexpr size_t kRecordBytes = kCounterPageBytes / kCountersPerPage;
  struct Table {
    static constexpr size_t kFirstCapacity = 512;

    char** items;
    size_t capacity;
  };

  // Return address of a free -> its node, a child of the root, and the stack of a free(NULL) there. Two have one place, in
  // one cache line, the newer one first.
  struct CallerSlot {
    uintptr_t pc;
    NodeId node;
    StackId null_stack;  // kNoStack: not asked for yet
  };

  static constexpr size_t kTables = 7;
  std::array<Table*, kTables> Tables() {
    return {&counts_pages, &traits_pages, &realloc_pages, &rare_pages,
            &wide_pages,   &region_pages, &weight_pages};
  }

  bool is_first() const { return first == this; }

  // Counter records of a stack; with no room in the file those of stack 0, which always exist.
  Counts& CountsOf(StackId stack) {
    Counts* const counts = KnownCountsOf(stack);
    return MALLOW_LIKELY(counts != nullptr) ? *counts : NewCounts(StackIndex(stack));
  }
  // The rarer ones; null when there is no room.
  Traits* TraitsOf(StackId stack) {
    return RarerRecord<Traits>(traits_pages, CounterKind::kFewTraits, StackIndex(stack));
  }
  WideTraits* WideTraitsAt(uint32_t number);
  Reallocs* ReallocsOf(StackId stack) {
    Reallocs* const recent = RecentReallocs(stack);
    return MALLOW_LIKELY(recent != nullptr && recent->stack == StackIndex(stack)) ? recent
                                                                                  : FindReallocs(stack);
  }
  RareCounts* RareCountsOf(StackId stack) {
    return RarerRecord<RareCounts>(rare_pages, CounterKind::kRareCounts, StackIndex(stack));
  }
  const RareCounts* KnownRareCountsOf(StackId stack) const {
    return KnownRecord<RareCounts>(rare_pages, StackIndex(stack));
  }

  CallerSlot& CallerAt(uintptr_t pc) {
    CallerSlot* const known = KnownCaller(pc);
    return MALLOW_LIKELY(known != nullptr) ? *known : NewCaller(pc);
  }
  // The same if it is known; else null.
  MALLOW_ALWAYS_INLINE CallerSlot* KnownCaller(uintptr_t pc) {
    CallerSlot* slot = PlaceOfCaller(pc);
    if (slot->pc != pc) ++slot;
    return slot->pc == pc && callers_generation == ModuleGeneration() ? slot : nullptr;
  }
  // Asks for what CallerAt looks at.
  MALLOW_ALWAYS_INLINE void PrefetchCaller(uintptr_t pc) { __builtin_prefetch(PlaceOfCaller(pc)); }
  // Where the stack has its own record, which stays there while the thread has this shard; null: it has none.
  MALLOW_ALWAYS_INLINE Counts* KnownCountsOf(StackId stack) const {
    return KnownRecord<Counts>(counts_pages, StackIndex(stack));
  }

  // Asks for the counters of a stack, if it has a record.
  MALLOW_ALWAYS_INLINE void PrefetchCounts(StackId stack) const {
    const Counts* const counts = KnownCountsOf(stack);
    if (counts != nullptr) __builtin_prefetch(counts, 1);
  }
  // Asks for what NoteBirth and NoteDeath write: most of their time they would wait for it.
  MALLOW_ALWAYS_INLINE void PrefetchTraits(StackId stack) const {
    const Traits* const traits = KnownRecord<Traits>(traits_pages, StackIndex(stack));
    if (traits != nullptr) __builtin_prefetch(traits, 1);
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

  // What every call looks at, in two cache lines.
  Shard* shard;
  // Of the first: while it has no more live bytes than that its deaths need not look at the peaks (see Counting). Other
  // threads make it the least when they change the sums. Of others the greatest.
  int64_t peak_limit;
  Header* header;
  uint64_t session;  // of the process, in which it has its shard
  uint64_t origin;   // of side records of its blocks, see Tag::OriginOf
  uint32_t owner;    // number of the thread, counted on from the parent's
  // One word, because nearly every call asks only whether all of it is zero.
  struct State {
    bool busy;
    Loan borrowed;     // for one call
    Function wrapped;  // not kNone: what this thread's next allocations count as
    bool logging;      // a log was kept at some time

    bool is_plain() const {
      uint32_t all;
      __builtin_memcpy(&all, this, sizeof(all));
      return all == 0;
    }
    // Of one that is plain but for `busy`. Written as it is read, so that the processor need not put the word together.
    void SetBusy(bool now) {
      const State all = {now, Loan::kNone, Function::kNone, false};
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
  Table counts_pages;
  // Live bytes from which on others have to be told; of the first beyond what there can be.
  int64_t flush_above, flush_below;
  OpenRegions regions;
  Table traits_pages, rare_pages;
  Table wide_pages;     // by number / kWideTraitsPerPage
  Table realloc_pages;  // by number / kCountersPerPage
  uint32_t wide_count, realloc_count;
  // Those of the latest stacks, so that a realloc need not look at traits.
  static constexpr size_t kRecentReallocs = 256;
  Reallocs* recent_reallocs[kRecentReallocs];

  uint32_t number;  // of the shard, counted on from the parent's
  Registers wrapped_caller;
  uint64_t wrapped_argument;
  uint32_t now_ms;            // since the file was made, as of the last look at the clock
  uint64_t events_at_sample;  // of the timeline
  Changes changes;
  ThreadRecorder* first;  // of the process: its live bytes are always exact
  int64_t flushed_live, flushed_live_libc;

  Table region_pages;  // by region / 64
  Table weight_pages;  // by stack / 64

  static constexpr unsigned kCallerPlaceBits = 11;
  alignas(2 * sizeof(CallerSlot)) CallerSlot caller_slots[2 << kCallerPlaceBits];
  uint64_t callers_generation;  // of the loaded objects, when these were asked for
  // So many asked for so far; from which on nearly every page of the slots will be touched.
  uint32_t callers;
  static constexpr uint32_t kCallersOfFewPages = 3;

  StackCache stack_cache;
  ThreadRecorder* next_free;
  ThreadRecorder* next_of_all;
  uint32_t list;  // of all threads, of a process and then of its fork child, in which it is

  // Where the tables begin, so that little is mapped in the middle of a program: one that maps memory where it has unmapped
  // some, without looking, would take it away.
  char* first_items[kTables][Table::kFirstCapacity];

 private:
  CallerSlot& NewCaller(uintptr_t pc);
  void PopulateCallers();
  CallerSlot* PlaceOfCaller(uintptr_t pc) {
    return caller_slots + 2 * (HashToTop(pc) >> (64 - kCallerPlaceBits));
  }
  template <typename T>
  static MALLOW_ALWAYS_INLINE T* KnownRecord(const Table& table, uint32_t index) {
    const size_t at = index / kCountersPerPage;
    char* const page = MALLOW_LIKELY(at < table.capacity) ? table.items[at] : nullptr;
    return MALLOW_UNLIKELY(page == nullptr) ? nullptr : reinterpret_cast<T*>(page) + index % kCountersPerPage;
  }
  template <typename T>
  T* ExtraRecord(Table& table, CounterKind kind, uint32_t index) {
    T* const known = KnownRecord<T>(table, index);
    if (MALLOW_LIKELY(known != nullptr)) return known;
    char* const page = NewExtraPage(table, kind, index);
    return page == nullptr ? nullptr : reinterpret_cast<T*>(page) + index % kCountersPerPage;
  }
  // A page of the file, with room for it in the table; null when there is none.
  char* NewPageFor(Table& table, CounterKind kind, uint32_t index);
  // Null when there is no room; counts that.
  char* NewExtraPage(Table& table, CounterKind kind, uint32_t index);

  template <typename T>
  MALLOW_ALWAYS_INLINE T* RarerRecord(Table& table, CounterKind kind, uint32_t index) {
    T* const known = KnownRecord<T>(table, index);
    return MALLOW_LIKELY(known != nullptr) ? known : static_cast<T*>(NewRarerRecord(table, kind, index));
  }
  MALLOW_COLD void* NewRarerRecord(Table& table, CounterKind kind, uint32_t index);
  // Null when there is no room, and from then on.
  char* NewRarerPage(Table& table, CounterKind kind, uint32_t index);
  MALLOW_COLD Counts& NewCounts(uint32_t index);
  Reallocs*& RecentReallocs(StackId stack) { return recent_reallocs[StackIndex(stack) % kRecentReallocs]; }
  MALLOW_NOINLINE Reallocs* FindReallocs(StackId stack);
  MALLOW_COLD Reallocs* NewReallocs(Traits& traits, StackId stack);
};

}  // namespace mallow::record
