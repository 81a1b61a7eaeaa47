// What nearly every recorded call comes to, in one piece: a stack that a leaf entry knows, a small block of the thread's
// cache, counters that are there. It does what Allocate and Release of recorder.cc do in such a case, and leaves
// everything else to them.
//
// A call is refused before anything of it has happened, but for an object that was taken and is put back. Whoever then captures all registers finds them as the caller left
// them: what is used here is given back before the jump. Nothing here calls a function that comes back, so that few
// registers are needed: what few events have to do in the end is jumped to. But a realloc has two events to count, and what
// it calls comes back.
#include <string.h>

#include "heap/block.h"
#include "heap/record_map.h"
#include "heap/thread_cache.h"
#include "record/counting.h"
#include "record/leaf_hit.h"
#include "record/oracle_hook.h"
#include "record/process.h"
#include "record/recorder.h"

namespace mallow::record {
namespace {

// The calling thread within the recorder, as Entry of recorder.cc has it; null if there is anything about it that wants
// more than counting. To be followed by Exit.
MALLOW_ALWAYS_INLINE ThreadRecorder* TryEnter() {
  ThreadRecorder* const thread = t_recorder;
  if (MALLOW_UNLIKELY(!IsRecorder(thread) || !thread->state.is_plain())) return nullptr;
  thread->state.SetBusy(true);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Only now: a handler may have forked up to here, and the thread be that of the child.
  if (MALLOW_LIKELY(g_process.IsOfNow(*thread))) return thread;
  thread->state.SetBusy(false);
  return nullptr;
}

MALLOW_ALWAYS_INLINE void Exit(ThreadRecorder& thread) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.state.SetBusy(false);
}

// The end of a birth of which there is more to note than its counters.
MALLOW_NOINLINE void* FinishBirth(ThreadRecorder& thread, void* p, Tag* tag, Counts& counts,
                                  StackId born_before) {
  thread.PrefetchTraits(tag->stack);
  const Study study = StudyOf(counts.calls);
  const size_t bytes = tag->size();
  if (counts.calls == 1) counts.size_min = static_cast<uint32_t>(bytes);
  *tag = Tag::Of(tag->stack, tag->clock, bytes, thread.owner, study);
  Counting(thread).NoteBirthOf(counts, tag->stack, born_before, bytes, study);
  InFlight::End(*thread.shard);
  Exit(thread);
  return p;
}

// Where a call of a thread comes from: its frame holds the caller's rbp, then the return address.
class Caller {
 public:
  Caller(ThreadRecorder& thread, const uintptr_t* frame) : thread_(thread), frame_(frame) {}

  uintptr_t pc() const { return frame_[1]; }
  uintptr_t sp() const { return reinterpret_cast<uintptr_t>(frame_ + 2); }
  uintptr_t bp() const { return frame_[0]; }
  CaptureContext& context() const { return thread_.stack_cache.context(); }
  // The leaf entry that knows the stack and what it counts in; else null.
  MALLOW_ALWAYS_INLINE LeafEntry* TryLeaf(Function function) const {
    LeafEntry* const leaf = thread_.stack_cache.TryHit(*this);
    if (MALLOW_UNLIKELY(leaf == nullptr)) return nullptr;
    return MALLOW_LIKELY(leaf->memo.key == MemoKey(function, thread_.regions.innermost())) ? leaf : nullptr;
  }
  // Makes of what TryLeaf found a capture.
  MALLOW_ALWAYS_INLINE void Count(LeafEntry& leaf) const {
    // Stacks that need more registers have no leaf entries.
    if constexpr (kOracleBuild) CheckAgainstOracle({pc(), sp(), bp(), 0, 0, 0, 0, 0}, leaf.node);
    ++thread_.shard->hits;
    if (MALLOW_UNLIKELY(thread_.stack_cache.TakeHit(leaf))) ++thread_.shard->captures.truncated;
  }

 private:
  ThreadRecorder& thread_;
  const uintptr_t* frame_;
};

// Of a call that is refused after it took an object of the thread's cache: nothing has happened then.
MALLOW_NOINLINE void* GiveBack(ThreadRecorder& thread, void* p) {
  heap::GiveBackClosed(p, heap::PageMap::ClassOf(p));
  Exit(thread);
  return nullptr;
}

Tag* TagOf(const heap::RecordedObject& object) { return reinterpret_cast<Tag*>(object.record); }

// A small object where the record map does not reach.
MALLOW_NOINLINE heap::RecordedObject AskSpan(const void* p) {
  const heap::Block block = heap::Describe<kSideRecordBytes>(p);
  if (block.record == nullptr || block.span->state != heap::SpanState::kSmall) return {};
  return {static_cast<char*>(block.record), block.span->size_class};
}

// The object and its record, wherever it lies.
MALLOW_ALWAYS_INLINE heap::RecordedObject FindRecord(const heap::TakenObject& taken) {
  const heap::RecordedObject object =
      heap::RecordMap::OfObject<kSideRecordBytes>(taken.start, taken.size_class);
  return MALLOW_LIKELY(object.record != nullptr) ? object : AskSpan(taken.start);
}

// A block, or null: nothing has happened.
template <Function function>
MALLOW_ALWAYS_INLINE void* TryAllocate(size_t bytes, const uintptr_t* frame) {
  ThreadRecorder* const entered = TryEnter();
  if (MALLOW_UNLIKELY(entered == nullptr)) return nullptr;
  ThreadRecorder& thread = *entered;
  const auto refuse = [&thread] {
    Exit(thread);
    return nullptr;
  };
  // What there is to know of the block comes from memory while the stack is compared.
  const heap::TakenObject taken = heap::TryTakeClosed(bytes);
  void* const p = taken.start;
  if (MALLOW_UNLIKELY(p == nullptr)) return refuse();
  const heap::RecordedObject object = FindRecord(taken);
  if (MALLOW_UNLIKELY(object.record == nullptr)) return GiveBack(thread, p);
  __builtin_prefetch(object.record, 1);
  const Caller caller(thread, frame);
  LeafEntry* const leaf = caller.TryLeaf(function);
  if (MALLOW_UNLIKELY(leaf == nullptr)) return GiveBack(thread, p);
  Counts& counts = *static_cast<Counts*>(leaf->memo.place);
  const StackId stack = leaf->memo.value;
  Counting counting(thread);
  Shard& shard = *thread.shard;
  caller.Count(*leaf);
  InFlight::Begin(shard, stack);
  const StackId born_before = counting.CountRun(stack);
  const bool due = counting.CountBirth(counts, stack, static_cast<uint32_t>(bytes), object.bytes());
  Tag* const tag = TagOf(object);
  *tag = counting.TagOfSmall(stack, bytes);
  thread.newest_block = p;
  if (MALLOW_UNLIKELY(due) || MALLOW_UNLIKELY(StudyOf(counts.calls) != Study::kNone))
    return FinishBirth(thread, p, tag, counts, born_before);
  InFlight::End(shard);
  Exit(thread);
  return p;
}

// The end of every death: only now may the heap give the block to somebody else.
MALLOW_ALWAYS_INLINE void EndDeath(ThreadRecorder& thread, void* p, heap::SizeClass size_class) {
  InFlight::End(*thread.shard);
  Exit(thread);
  heap::FreeOfClassClosed(p, size_class);
}
MALLOW_ALWAYS_INLINE void EndDeath(ThreadRecorder& thread, void* p) {
  EndDeath(thread, p, heap::PageMap::ClassOf(p));
}

// The end of one after which other threads have to be told.
MALLOW_NOINLINE void FlushDeath(ThreadRecorder& thread, void* p) {
  Counting(thread).Flush();
  EndDeath(thread, p);
}

// What is counted of every death of a block of the thread; the tag keeps its origin.
struct Death {
  uint64_t life;
  bool due;  // see CountDeath
};
MALLOW_ALWAYS_INLINE Death CountRelease(Counting& counting, Shard& shard, const void* p, Tag* tag,
                                        Counts& counts, StackId stack, uint64_t bytes) {
  const uint64_t life = counting.CountLife(counts, tag->clock, p);
  shard.frees++;
  tag->stack = kReleased;
  const bool due = counting.CountDeath(counts, stack, bytes);
  return {life, due};
}

// All of a death with which the sum of live bytes begins to fall.
MALLOW_NOINLINE void ReleaseAfterPeak(ThreadRecorder& thread, void* p, Tag* tag, Counts& counts,
                                      StackId stack, uint64_t bytes) {
  Counting counting(thread);
  Shard& shard = *thread.shard;
  InFlight::Begin(shard, stack);
  counting.LookAtPeaks();
  thread.last_freed = stack;
  CountRelease(counting, shard, p, tag, counts, stack, bytes);
  EndDeath(thread, p);
}

// A death that nothing is to be noted of but its counters: not studied, of less than kFlushBytes.
MALLOW_ALWAYS_INLINE void ReleaseOwn(ThreadRecorder& thread, void* p, Tag* tag, Counts& counts, StackId stack,
                                     uint64_t bytes, heap::SizeClass size_class) {
  Counting counting(thread);
  if (MALLOW_UNLIKELY(counting.IsAbovePeakLimit()))
    return ReleaseAfterPeak(thread, p, tag, counts, stack, bytes);
  Shard& shard = *thread.shard;
  InFlight::Begin(shard, stack);
  thread.last_freed = stack;
  if (MALLOW_UNLIKELY(CountRelease(counting, shard, p, tag, counts, stack, bytes).due))
    return FlushDeath(thread, p);
  EndDeath(thread, p, size_class);
}

// Of such a block that libc frees: apart, so that others only ask.
MALLOW_NOINLINE void ReleaseOfLibc(ThreadRecorder& thread, void* p, Tag* tag, Counts& counts, uintptr_t pc) {
  const StackId stack = tag->stack;
  InFlight::Begin(*thread.shard, stack);
  if (FreesForItself(stack, pc)) thread.shard->frees_libc++;
  ReleaseOwn(thread, p, tag, counts, stack, tag->size(), heap::PageMap::ClassOf(p));
}

// Of a block that is studied, or great, or that ld.so frees. All others go the long way.
template <typename... Said>
MALLOW_NOINLINE void ReleaseRarer(ThreadRecorder& thread, void* p, Tag* tag, uintptr_t pc,
                                  OtherRelease<Said...>* otherwise, Said... said) {
  const StackId stack = tag->stack;
  if (stack == kReleased || tag->owner() != thread.owner || g_process.IsLdSo(pc)) {
    Exit(thread);
    return otherwise(p, said...);
  }
  const uint64_t bytes = tag->size();
  const Study study = tag->study();
  if (study != Study::kNone) {
    thread.PrefetchCaller(pc);
    thread.PrefetchTraits(stack);
  }
  Counting counting(thread);
  Shard& shard = *thread.shard;
  InFlight::Begin(shard, stack);
  if (FreesForItself(stack, pc)) shard.frees_libc++;
  counting.BeginDeath(bytes);
  Counts& counts = thread.CountsOf(stack);
  const Death death = CountRelease(counting, shard, p, tag, counts, stack, bytes);
  counting.NoteDeathOf(counts, stack, death.life, bytes, pc, study);
  EndDeath(thread, p);
}

// free(NULL), of a caller that the thread knows.
template <typename... Said>
MALLOW_NOINLINE void ReleaseNull(ThreadRecorder& thread, uintptr_t pc, OtherRelease<Said...>* otherwise,
                                 Said... said) {
  const ThreadRecorder::CallerSlot* const caller = thread.KnownCaller(pc);
  const StackId stack = caller != nullptr ? caller->null_stack : kNoStack;
  Counts* const counts = stack != kNoStack ? thread.KnownCountsOf(stack) : nullptr;
  if (MALLOW_UNLIKELY(counts == nullptr || Counting::IsFull(*counts))) {
    Exit(thread);
    return otherwise(nullptr, said...);
  }
  Shard& shard = *thread.shard;
  InFlight::Begin(shard, stack);
  counts->calls++;
  shard.free_nulls++;
  InFlight::End(shard);
  Exit(thread);
}

// What the record map does not know: a large block, one that lies where it does not reach.
template <typename... Said>
MALLOW_NOINLINE void ReleaseElsewhere(ThreadRecorder& thread, void* p, uintptr_t pc,
                                      OtherRelease<Said...>* otherwise, Said... said) {
  const heap::RecordedObject object = AskSpan(p);
  if (object.size_class != 0) return ReleaseRarer(thread, p, TagOf(object), pc, otherwise, said...);
  Exit(thread);
  return otherwise(p, said...);
}

// A block of whatever kind.
template <typename... Said>
MALLOW_ALWAYS_INLINE void Release(void* p, OtherRelease<Said...>* otherwise, Said... said) {
  const uintptr_t pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  ThreadRecorder* const entered = TryEnter();
  if (MALLOW_UNLIKELY(entered == nullptr)) return otherwise(p, said...);
  ThreadRecorder& thread = *entered;
  const heap::RecordedObject object = heap::RecordMap::At<kSideRecordBytes>(p);
  Tag* const tag = TagOf(object);
  if (MALLOW_UNLIKELY(object.size_class == 0))
    return p == nullptr ? ReleaseNull(thread, pc, otherwise, said...)
                        : ReleaseElsewhere(thread, p, pc, otherwise, said...);
  const StackId stack = tag->stack;
  // The size, if there is no more to the origin than that of a block of this thread that is not studied; else far too much.
  const uint64_t bytes = tag->origin ^ thread.origin;
  // Null for kReleased, too.
  Counts* const counts = thread.KnownCountsOf(stack);
  if (MALLOW_UNLIKELY(bytes >= kFlushBytes) || MALLOW_UNLIKELY(counts == nullptr))
    return ReleaseRarer(thread, p, tag, pc, otherwise, said...);
  if (MALLOW_UNLIKELY(g_process.IsLibc(pc)))
    return g_process.IsLdSo(pc) ? ReleaseRarer(thread, p, tag, pc, otherwise, said...)
                                : ReleaseOfLibc(thread, p, tag, *counts, pc);
  ReleaseOwn(thread, p, tag, *counts, stack, bytes, object.size_class);
}

// What Reallocate does of a block that stays in the thread's cache. Null: nothing has happened.
MALLOW_ALWAYS_INLINE void* TryReallocate(void* p, size_t bytes, const uintptr_t* frame) {
  ThreadRecorder* const entered = TryEnter();
  if (MALLOW_UNLIKELY(entered == nullptr)) return nullptr;
  ThreadRecorder& thread = *entered;
  const auto refuse = [&thread] {
    Exit(thread);
    return nullptr;
  };
  const Caller caller(thread, frame);
  LeafEntry* const leaf = caller.TryLeaf(Function::kRealloc);
  if (MALLOW_UNLIKELY(leaf == nullptr)) return refuse();
  const heap::RecordedObject old = heap::RecordMap::At<kSideRecordBytes>(p);
  if (MALLOW_UNLIKELY(old.size_class == 0)) return refuse();
  const Tag old_tag = *TagOf(old);
  if (MALLOW_UNLIKELY(old_tag.stack == kReleased || old_tag.owner() != thread.owner)) return refuse();
  const StackId stack = leaf->memo.value;
  const size_t old_usable_bytes = old.bytes();
  heap::RecordedObject object = old;
  void* moved = p;
  if (!heap::FitsInPlace(old_usable_bytes, bytes)) {
    if (MALLOW_UNLIKELY(bytes >= heap::kLeastGrowing)) return refuse();
    const heap::TakenObject taken = heap::TryTakeClosed(bytes);
    moved = taken.start;
    if (MALLOW_UNLIKELY(moved == nullptr)) return refuse();
    object = FindRecord(taken);
    if (MALLOW_UNLIKELY(object.record == nullptr)) return GiveBack(thread, moved);
  }
  caller.Count(*leaf);
  if (moved != p) memcpy(moved, p, Min(old_usable_bytes, bytes));
  InFlight::Begin(*thread.shard, stack);
  Counting counting(thread);
  counting.Death(old_tag, p, Counting::Release::kRealloc, caller.pc());
  *TagOf(object) = counting.Birth(stack, bytes, object.bytes());
  NoteRealloc(thread, stack, old_tag.stack, old_tag.size(), bytes, moved != p, moved != p);
  thread.newest_block = moved;
  if (moved != p) TagOf(old)->stack = kReleased;
  InFlight::End(*thread.shard);
  Exit(thread);
  if (moved != p) heap::FreeOfClassClosed(p, old.size_class);
  return moved;
}

}  // namespace

template <Function function>
void* HitAllocate(size_t bytes, void* (*otherwise)(size_t bytes)) {
  void* const p = TryAllocate<function>(bytes, static_cast<const uintptr_t*>(__builtin_frame_address(0)));
  return MALLOW_LIKELY(p != nullptr) ? p : otherwise(bytes);
}

template void* HitAllocate<Function::kMalloc>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kRealloc>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kNew>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kNewArray>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kNewNothrow>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kNewArrayNothrow>(size_t, void* (*)(size_t));

void* HitAllocateZeroed(size_t bytes, size_t count, void* (*otherwise)(size_t bytes, size_t count)) {
  void* const p =
      TryAllocate<Function::kCalloc>(bytes, static_cast<const uintptr_t*>(__builtin_frame_address(0)));
  return MALLOW_LIKELY(p != nullptr) ? memset(p, 0, bytes) : otherwise(bytes, count);
}

void* HitReallocate(void* p, size_t bytes, void* (*otherwise)(void* p, size_t bytes)) {
  void* const moved = TryReallocate(p, bytes, static_cast<const uintptr_t*>(__builtin_frame_address(0)));
  return MALLOW_LIKELY(moved != nullptr) ? moved : otherwise(p, bytes);
}

void HitRelease(void* p, OtherRelease<>* otherwise) { Release(p, otherwise); }
void HitReleaseSized(void* p, size_t bytes, OtherRelease<size_t>* otherwise) { Release(p, otherwise, bytes); }

}  // namespace mallow::record
