// How one birth or death of a block is counted, and how the peak is kept.
//
// Order matters: `in_flight` first and last, so that a reader of a recording whose process was killed knows which
// stack's counters may be half written; a record's bytes are saved for the peak before they change. On x86-64
// stores become visible in program order; the signal fences hold the compiler to it.
//
// Thread safety: a thread counts in its own shard only. The sum of live bytes of several threads is exact for the
// first thread and flushed by the others after kFlushBytes of change.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/config.h"
#include "record/image_format.h"
#include "record/process.h"
#include "record/thread_recorder.h"
#include "record/traits.h"

namespace mallow::record {

inline constexpr int64_t kFlushBytes = 64 * 1024;
// A block that its own thread releases within so many of its next events is short-lived.
inline constexpr uint32_t kShortLifeEvents = 32;

// The side record of a block: what its release needs to know of its birth.
struct Tag {
  static constexpr unsigned kSizeBits = 44, kOwnerBits = 18;

  StackId stack;
  uint32_t clock;   // of the allocating thread, at birth
  uint64_t origin;  // the number of the thread, above the size; above both a Study

  // How `origin` begins, or ends, for a thread.
  static constexpr uint64_t OriginOf(uint32_t owner) { return uint64_t{owner} << kSizeBits; }
  static constexpr Tag Of(StackId stack, uint32_t clock, uint64_t size, uint32_t owner, Study study) {
    const uint64_t studied = static_cast<uint64_t>(study) << (kSizeBits + kOwnerBits);
    return {stack, clock, (size & ((uint64_t{1} << kSizeBits) - 1)) | OriginOf(owner) | studied};
  }
  constexpr uint64_t size() const { return origin & ((uint64_t{1} << kSizeBits) - 1); }
  constexpr uint32_t owner() const {
    return static_cast<uint32_t>(origin >> kSizeBits) & ((1u << kOwnerBits) - 1);
  }
  constexpr Study study() const { return static_cast<Study>(origin >> (kSizeBits + kOwnerBits)); }
};
static_assert(sizeof(Tag) == 16);
inline constexpr StackId kReleased = ~StackId{0};                  // no block in use has it
inline constexpr uint32_t kNoOwner = (1u << Tag::kOwnerBits) - 1;  // born while its thread could not record

// Whether the block's birth was counted in this process, so that its death has to be.
inline bool IsOurs(const Tag& tag) {
  return tag.owner() >= g_process.first_owner() && tag.owner() != kNoOwner;
}

// Whether libc releases what it has allocated for itself. A block of the program it releases for the program, which
// gave it free to call, or whose function ends with a jump to free. Of a block of which nothing is known the caller tells.
inline bool FreesForItself(StackId stack, uintptr_t pc) {
  return g_process.IsLibc(pc) && (IsLibcStack(stack) || stack == kNoStack);
}

// Of what StackCache remembers beside a node: the stack in that place, and the thread's Counts of it.
inline uint32_t MemoKey(Function function, RegionId region) {
  return static_cast<uint32_t>(function) << 24 | region;
}

class Counting {
 public:
  explicit Counting(ThreadRecorder& thread) : thread_(thread), shard_(*thread.shard) {}

  // Returns the side record of the block.
  MALLOW_ALWAYS_INLINE Tag Birth(StackId stack, size_t bytes, size_t usable_bytes);
  // A realloc that fails, a malloc without memory.
  void Failure(StackId stack);
  // free(NULL).
  void NullRelease(StackId stack);
  enum class Release { kFree, kRealloc };
  // `block` only for comparison. `pc` is the return address of the call.
  MALLOW_ALWAYS_INLINE void Death(const Tag& tag, const void* block, Release how, uintptr_t pc);
  // A thread but the first adds what changed since its last flush to the shared sums.
  void Flush();
  // Of a new shard.
  void Start();

  // What those two are made of, for hit.cc. The first returns what was born before.
  MALLOW_ALWAYS_INLINE StackId CountRun(StackId stack);
  // `counts` is the thread's record of the stack. True: NoteBirthOf has to follow. A uint32_t of bytes takes fewer
  // instructions.
  template <typename Bytes>
  MALLOW_ALWAYS_INLINE bool CountBirth(Counts& counts, StackId stack, Bytes bytes, size_t usable_bytes);
  // After it: the side record of a small block that is not studied.
  Tag TagOfSmall(StackId stack, size_t bytes) const {
    return {stack, static_cast<uint32_t>(shard_.events), bytes | thread_.origin};
  }
  // Then, for the few that there is more to be noted of.
  void NoteBirthOf(Counts& counts, StackId stack, StackId born_before, size_t bytes, Study study);

  // Before anything of a death is counted: whether LookAtPeaks has to come first; also where `bytes` are kFlushBytes or
  // more.
  MALLOW_ALWAYS_INLINE bool IsAbovePeakLimit() const {
    return shard_.live_bytes > __atomic_load_n(&thread_.peak_limit, __ATOMIC_RELAXED);
  }
  void LookAtPeaks();
  void BeginDeath(uint64_t bytes) {
    if (MALLOW_UNLIKELY(IsAbovePeakLimit() || bytes >= kFlushBytes)) LookAtPeaks();
  }
  // Of a block that this thread made: returns how long it lived.
  MALLOW_ALWAYS_INLINE uint64_t CountLife(Counts& counts, uint32_t clock, const void* block);
  // True: NoteDeathOf has to follow.
  MALLOW_ALWAYS_INLINE bool CountDeath(Counts& counts, StackId stack, uint64_t bytes);
  // Then, or the stack becomes the thread's last_freed.
  void NoteDeathOf(Counts& counts, StackId stack, uint64_t life, uint64_t bytes, uintptr_t pc, Study study);
  // Whether a unit is to be carried over to RareCounts before the figures run over. It is enough to ask at every birth
  // and death that is studied, of which there is one in some hundred, and wherever many bytes may be wasted at once.
  static bool IsFull(const Counts& counts) {
    return (counts.calls | counts.releases | counts.waste) >= 1u << (RareCounts::kCarriedBits + 1);
  }

 private:
  static constexpr uint32_t kCarried = 1u << RareCounts::kCarriedBits;

  Shard& first() const { return *thread_.first->shard; }
  Header& header() const { return *thread_.header; }
  uint64_t Epoch() const { return __atomic_load_n(&header().peak_epoch, __ATOMIC_RELAXED); }
  // Live bytes at some moment.
  struct Live {
    int64_t all, program;
  };
  Live LiveOfFirst() const;
  void LeavePeak();
  MALLOW_ALWAYS_INLINE void LowerPeakLimit(int64_t bytes);
  template <typename OfOthers>
  void RaiseSharedPeaks(OfOthers of_others);
  MALLOW_ALWAYS_INLINE void SaveForPeak(Counts& counts);
  // Of a block of a GiB or more: returns what of its usable bytes is still to be counted.
  MALLOW_COLD size_t CountHuge(StackId stack, size_t bytes, size_t usable_bytes);
  MALLOW_COLD void Carry(Counts& counts, StackId stack);
  // Own figures that other threads look at: one plain store. Returns what it is then.
  static MALLOW_ALWAYS_INLINE int64_t Add(int64_t& figure, int64_t change) {
    const int64_t sum = figure + change;
    __atomic_store_n(&figure, sum, __ATOMIC_RELAXED);
    return sum;
  }

  ThreadRecorder& thread_;
  Shard& shard_;
};

// Marks the calls that a kill may leave half counted.
class InFlight {
 public:
  InFlight(Shard& shard, StackId stack) : shard_(shard) { Begin(shard, stack); }
  ~InFlight() { End(shard_); }

  static MALLOW_ALWAYS_INLINE void Begin(Shard& shard, StackId stack) {
    shard.in_flight = uint64_t{stack} + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  static MALLOW_ALWAYS_INLINE void End(Shard& shard) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    shard.in_flight = 0;
  }

 private:
  Shard& shard_;
};

inline Tag Counting::Birth(StackId stack, size_t bytes, size_t usable_bytes) {
  Counts& counts = thread_.CountsOf(stack);
  const StackId born_before = CountRun(stack);
  const Study study = StudyOf(counts.calls + 1);
  if (counts.calls == 0) counts.size_min = CappedSize(bytes);
  if (MALLOW_UNLIKELY(usable_bytes >= kCarried)) usable_bytes = CountHuge(stack, bytes, usable_bytes);
  const bool due = CountBirth(counts, stack, bytes, usable_bytes);
  if (MALLOW_UNLIKELY(study != Study::kNone || due || IsFull(counts)))
    NoteBirthOf(counts, stack, born_before, bytes, study);
  return Tag::Of(stack, static_cast<uint32_t>(shard_.events), bytes, thread_.owner, study);
}

inline StackId Counting::CountRun(StackId stack) {
  const StackId born_before = thread_.last_born;
  if (born_before == stack) {
    thread_.run++;
    return stack;
  }
  if (MALLOW_UNLIKELY(thread_.run >= kLongRun)) NoteLongRun(thread_, born_before);
  thread_.run = 1;
  thread_.last_born = stack;
  return born_before;
}

inline void Counting::SaveForPeak(Counts& counts) {
  const uint64_t epoch = Epoch();
  if (counts.peak_epoch == epoch) return;
  counts.live_bytes_at_peak = static_cast<int64_t>(counts.bytes - counts.released_bytes);
  counts.peak_epoch = epoch;
}

template <typename Bytes>
inline bool Counting::CountBirth(Counts& counts, StackId stack, Bytes bytes, size_t usable_bytes) {
  SaveForPeak(counts);
  counts.calls++;
  counts.bytes += bytes;
  counts.waste += static_cast<uint32_t>(usable_bytes - bytes);
  if (MALLOW_UNLIKELY(bytes < counts.size_min)) counts.size_min = static_cast<uint32_t>(bytes);
  if (MALLOW_UNLIKELY(bytes > counts.size_max)) counts.size_max = CappedSize(bytes);

  shard_.events++;
  shard_.live_blocks++;
  const int64_t live = Add(shard_.live_bytes, static_cast<int64_t>(bytes));
  if (MALLOW_UNLIKELY(IsLibcStack(stack))) Add(shard_.live_bytes_libc, static_cast<int64_t>(bytes));
  return MALLOW_UNLIKELY(live >= thread_.flush_above);
}

inline void Counting::NoteBirthOf(Counts& counts, StackId stack, StackId born_before, size_t bytes,
                                  Study study) {
  if (study != Study::kNone) NoteBirth(thread_, stack, born_before, bytes, study);
  if (MALLOW_UNLIKELY(IsFull(counts))) Carry(counts, stack);
  if (shard_.live_bytes >= thread_.flush_above) Flush();
}

inline void Counting::Death(const Tag& tag, const void* block, Release how, uintptr_t pc) {
  uint64_t life = 0;
  Counts& counts = thread_.CountsOf(tag.stack);
  BeginDeath(tag.size());
  if (MALLOW_LIKELY(tag.owner() == thread_.owner)) {
    life = CountLife(counts, tag.clock, block);
  } else {
    counts.foreign++;
    if (MALLOW_UNLIKELY(IsFull(counts))) Carry(counts, tag.stack);
  }
  if (how == Release::kRealloc) {
    if (Reallocs* const reallocs = thread_.ReallocsOf(tag.stack); reallocs != nullptr) reallocs->given_up++;
  }
  const bool due = CountDeath(counts, tag.stack, tag.size());
  if (MALLOW_UNLIKELY(tag.study() != Study::kNone || due))
    return NoteDeathOf(counts, tag.stack, life, tag.size(), pc, tag.study());
  thread_.last_freed = tag.stack;
}

inline uint64_t Counting::CountLife(Counts& counts, uint32_t clock, const void* block) {
  if (MALLOW_UNLIKELY(block == thread_.newest_block)) counts.temporary++;
  const uint32_t events = static_cast<uint32_t>(shard_.events) - clock;
  if (events < kShortLifeEvents) counts.short_lived++;
  return uint64_t{events} + 1;
}

// Of libc's blocks so many bytes are gone: the program may have its peak with so many less in all.
inline void Counting::LowerPeakLimit(int64_t bytes) {
  const int64_t limit = __atomic_load_n(&thread_.peak_limit, __ATOMIC_RELAXED);
  // Below 0 every death of a thread that is alone looks.
  __atomic_store_n(&thread_.peak_limit, limit >= 0 ? limit - bytes : INT64_MIN, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // What another thread has stored meanwhile must not be lost, the first one either that came only now.
  if (header().most_threads != 1) __atomic_store_n(&thread_.peak_limit, INT64_MIN, __ATOMIC_RELAXED);
}

inline bool Counting::CountDeath(Counts& counts, StackId stack, uint64_t bytes) {
  SaveForPeak(counts);
  counts.releases++;
  counts.released_bytes += bytes;
  shard_.events++;
  shard_.live_blocks--;
  const int64_t live = Add(shard_.live_bytes, -static_cast<int64_t>(bytes));
  if (MALLOW_UNLIKELY(IsLibcStack(stack))) {
    Add(shard_.live_bytes_libc, -static_cast<int64_t>(bytes));
    if (thread_.is_first()) LowerPeakLimit(static_cast<int64_t>(bytes));
  }
  return MALLOW_UNLIKELY(live <= thread_.flush_below);
}

inline void Counting::NoteDeathOf(Counts& counts, StackId stack, uint64_t life, uint64_t bytes, uintptr_t pc,
                                  Study study) {
  const StackId freed_before = thread_.last_freed;
  thread_.last_freed = stack;
  if (study != Study::kNone) NoteDeath(thread_, stack, freed_before, life, bytes, pc, study);
  if (MALLOW_UNLIKELY(IsFull(counts))) Carry(counts, stack);
  if (shard_.live_bytes <= thread_.flush_below) Flush();
}

inline void Counting::NullRelease(StackId stack) {
  Counts& counts = thread_.CountsOf(stack);
  // Without a record of its own it is not counted among blocks.
  if (&counts != thread_.KnownCountsOf(kNoStack)) {
    counts.calls++;
    if (MALLOW_UNLIKELY(IsFull(counts))) Carry(counts, stack);
  }
  shard_.free_nulls++;
}

inline void Counting::Failure(StackId stack) {
  if (RareCounts* const rare = thread_.RareCountsOf(stack); rare != nullptr) rare->failed++;
  shard_.failed++;
}

}  // namespace mallow::record
