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
#include "record/event_stream.h"
#include "record/image_format.h"
#include "record/region.h"
#include "record/stack_cache.h"
#include "record/stack_table.h"

namespace mallow::record {

struct ThreadRecorder;
// The calling thread's; null: not made yet; kUnrecordable: there is no shard for it, and it does not ask again;
// kEnded: its exit hook ran, and what libc still frees for it is counted in a recorder borrowed for each call, because
// nothing would tell when to hand one back.
extern MALLOW_THREAD_LOCAL ThreadRecorder* t_recorder;
inline bool IsRecorder(const ThreadRecorder* recorder) { return reinterpret_cast<uintptr_t>(recorder) > 2; }

struct ThreadRecorder {
  bool is_first() const { return shard == first_shard; }

  // Counter records of a stack; with no room in the file those of stack 0, which always exist.
  Births& BirthsOf(StackId stack) {
    return *static_cast<Births*>(Record(birth_pages, CounterKind::kBirths, StackIndex(stack)));
  }
  Deaths& DeathsOf(StackId stack) {
    return *static_cast<Deaths*>(Record(death_pages, CounterKind::kDeaths, StackIndex(stack)));
  }

  // A thread's figures of a region; null for none, and when there is no room.
  RegionFigures* FiguresOf(RegionId region) {
    if (region == kNoRegion) return nullptr;
    const size_t at = region / kCountersPerPage;
    char* page = at < region_pages.capacity ? region_pages.of[at] : nullptr;
    if (page == nullptr) page = NewPage(region_pages, CounterKind::kRegions, region);
    return page == nullptr ? nullptr : reinterpret_cast<RegionFigures*>(page) + region % kCountersPerPage;
  }

  Shard* shard;
  Shard* first_shard;  // of the process: its live bytes are always exact
  Header* header;
  uint64_t session;  // of the process, in which it has its shard
  uint32_t number;   // of the shard, counted on from the parent's
  bool busy;
  bool borrowed;     // for one call, by a thread whose exit hook ran
  Function wrapped;  // not kNone: what this thread's next allocations count as
  Registers wrapped_caller;
  uint64_t wrapped_argument;
  const void* newest_block;  // of the last allocation, for "temporary"
  int64_t flushed_live, flushed_live_program;

  // Where the thread's counter pages of one kind lie, by stack / 64; null where there is none yet. Item 0 always is.
  struct Pages {
    char** of;
    size_t capacity;
  };
  Pages birth_pages, death_pages;
  Pages region_pages;  // by region / 64; empty before the first one

  OpenRegions regions;

  // Return address -> stack, for free(NULL).
  struct NullSlot {
    uintptr_t pc;
    uint64_t generation;  // of the loaded objects
    StackId stack;
  };
  static constexpr size_t kNullSlots = 64;
  NullSlot null_slots[kNullSlots];

  StackCache stack_cache;
  EventStream* log;  // null: no log is kept, or it has ended
  ThreadRecorder* next_free;
  ThreadRecorder* next_of_all;

 private:
  static constexpr size_t kRecordBytes = kCounterPageBytes / kCountersPerPage;

  void* Record(Pages& pages, CounterKind kind, uint32_t index) {
    const size_t at = index / kCountersPerPage;
    char* page = MALLOW_LIKELY(at < pages.capacity) ? pages.of[at] : nullptr;
    if (MALLOW_UNLIKELY(page == nullptr)) {
      page = NewPage(pages, kind, index);
      if (page == nullptr) return pages.of[0];
    }
    return page + index % kCountersPerPage * kRecordBytes;
  }
  // Null when there is no room; counts that.
  char* NewPage(Pages& pages, CounterKind kind, uint32_t index);
};

}  // namespace mallow::record
