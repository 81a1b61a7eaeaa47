// What nearly every recorded call comes to, in one piece: a stack that a leaf entry knows, a small block of the thread's
// cache, counters that are there. It does what Allocate and Release of recorder.cc do in such a case, and leaves
// everything else to them.
//
// A call is refused before anything of it has happened. Whoever then captures all registers finds them as the caller left
// them: what is used here is given back before the jump. Nothing here calls a function that comes back, so that few
// registers are needed: the search of the leaf cache beyond its first place, and what few events have to do in the end,
// are jumped to. But a realloc has two events to count, and what it calls comes back.
#include <string.h>

#include "heap/block.h"
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
  if (MALLOW_UNLIKELY(!IsRecorder(thread) || !thread->state.is_plain() || thread->log != nullptr))
    return nullptr;
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
MALLOW_NOINLINE void* FinishBirth(ThreadRecorder& thread, void* p, Tag* tag, Births& births,
                                  StackId born_before) {
  const Study study = StudyOf(births.calls);
  const size_t bytes = tag->size();
  if (births.calls == 1) births.size_min = bytes;
  *tag = Tag::Of(tag->stack, tag->clock, bytes, thread.number, study);
  Counting(thread).NoteBirthOf(tag->stack, born_before, bytes, study);
  heap::VisitClosed(heap::thread_words.cache);
  InFlight::End(*thread.shard);
  Exit(thread);
  return p;
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
  // The frame holds the caller's rbp, then the return address.
  const uintptr_t pc = frame[1], sp = reinterpret_cast<uintptr_t>(frame + 2), bp = frame[0];
  const LeafEntry* const leaf = thread.stack_cache.TryHit(pc, sp, bp);
  if (MALLOW_UNLIKELY(leaf == nullptr)) return refuse();
  Births* const births = static_cast<Births*>(leaf->memo.place);
  if (MALLOW_UNLIKELY(leaf->memo.key != MemoKey(function, thread.regions.innermost()) || births == nullptr))
    return refuse();
  const StackId stack = leaf->memo.value;
  const heap::TakenSmall taken = heap::TryAllocateClosed(bytes);
  void* const p = taken.object;
  if (MALLOW_UNLIKELY(p == nullptr)) return refuse();
  const heap::Block block = heap::DescribeNewSmall<kSideRecordBytes>(p);
  if (MALLOW_UNLIKELY(block.record == nullptr)) {
    heap::FreeOfClass(p, block.span->size_class);
    return refuse();
  }
  // Stacks that need more registers have no leaf entries.
  if constexpr (kOracleBuild) CheckAgainstOracle({pc, sp, bp, 0, 0, 0, 0, 0}, leaf->node);
  Counting counting(thread);
  Shard& shard = *thread.shard;
  thread.stack_cache.CountHit(*leaf, &shard.captures);
  InFlight::Begin(shard, stack);
  const StackId born_before = counting.CountRun(stack);
  const bool due = counting.CountBirth(*births, stack, bytes, block.usable_bytes);
  Tag* const tag = static_cast<Tag*>(block.record);
  *tag = counting.TagOfSmall(stack, bytes);
  thread.newest_block = p;
  if (MALLOW_UNLIKELY(due || taken.cache->watching()) ||
      MALLOW_UNLIKELY(StudyOf(births->calls) != Study::kNone))
    return FinishBirth(thread, p, tag, *births, born_before);
  InFlight::End(shard);
  Exit(thread);
  return p;
}

// The end of a death of which there is more to note. `tag` is still as it was but for its stack.
MALLOW_NOINLINE void FinishDeath(ThreadRecorder& thread, void* p, const Tag* tag, StackId stack,
                                 uint64_t life, uintptr_t pc) {
  Counting(thread).NoteDeathOf(stack, life, tag->size(), pc, tag->study());
  InFlight::End(*thread.shard);
  Exit(thread);
  heap::FreeOfClassClosed(p, heap::PageMap::KnownSpanOf(heap::PageOf(p))->size_class);
}

// free(NULL), of a caller that the thread knows.
MALLOW_NOINLINE void ReleaseNull(ThreadRecorder& thread, uintptr_t pc, void (*otherwise)(void* p)) {
  const ThreadRecorder::CallerSlot& slot = thread.SlotOfCaller(pc);
  const StackId stack = slot.null_stack;
  Births* const births = slot.IsOf(pc) && stack != kNoStack ? thread.KnownBirthsOf(stack) : nullptr;
  if (MALLOW_UNLIKELY(births == nullptr)) {
    Exit(thread);
    return otherwise(nullptr);
  }
  InFlight::Begin(*thread.shard, stack);
  births->calls++;
  thread.shard->free_nulls++;
  InFlight::End(*thread.shard);
  Exit(thread);
}

// A block that is about to be resized, and what it is told by.
struct OldBlock {
  Tag* tag;  // null: none of this thread's small blocks in use
  const heap::Span* span;
};

MALLOW_ALWAYS_INLINE OldBlock OwnSmallBlock(const ThreadRecorder& thread, const void* p) {
  const heap::Span* const span = heap::PageMap::SpanOf(heap::PageOf(p));
  if (MALLOW_UNLIKELY(span == nullptr || span->state != heap::SpanState::kSmall)) return {};
  size_t index;
  char* const records = __atomic_load_n(&span->records, __ATOMIC_ACQUIRE);
  if (MALLOW_UNLIKELY(!span->TryIndexOf(p, &index) || records == nullptr)) return {};
  Tag* const tag = reinterpret_cast<Tag*>(records) + index;
  if (MALLOW_UNLIKELY(tag->stack == kReleased || tag->shard() != thread.number)) return {};
  return {tag, span};
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
  const uintptr_t pc = frame[1], sp = reinterpret_cast<uintptr_t>(frame + 2), bp = frame[0];
  const LeafEntry* const leaf = thread.stack_cache.TryHit(pc, sp, bp);
  if (MALLOW_UNLIKELY(leaf == nullptr)) return refuse();
  if (MALLOW_UNLIKELY(leaf->memo.key != MemoKey(Function::kRealloc, thread.regions.innermost()) ||
                      leaf->memo.place == nullptr))
    return refuse();
  const OldBlock old = OwnSmallBlock(thread, p);
  if (MALLOW_UNLIKELY(old.tag == nullptr)) return refuse();
  const StackId stack = leaf->memo.value;
  const Tag old_tag = *old.tag;
  const size_t old_usable_bytes = old.span->object_bytes;
  heap::Block block{old.tag, old_usable_bytes, nullptr};
  void* moved = p;
  if (!heap::FitsInPlace(old_usable_bytes, bytes)) {
    if (MALLOW_UNLIKELY(bytes >= heap::kLeastGrowing)) return refuse();
    moved = heap::TryAllocateClosed(bytes).object;
    if (MALLOW_UNLIKELY(moved == nullptr)) return refuse();
    block = heap::DescribeNewSmall<kSideRecordBytes>(moved);
    if (MALLOW_UNLIKELY(block.record == nullptr)) {
      heap::FreeOfClass(moved, block.span->size_class);
      return refuse();
    }
  }
  if constexpr (kOracleBuild) CheckAgainstOracle({pc, sp, bp, 0, 0, 0, 0, 0}, leaf->node);
  thread.stack_cache.CountHit(*leaf, &thread.shard->captures);
  if (moved != p) memcpy(moved, p, Min(old_usable_bytes, bytes));
  InFlight::Begin(*thread.shard, stack);
  Counting counting(thread);
  counting.Death(old_tag, p, Counting::Release::kRealloc, pc);
  *static_cast<Tag*>(block.record) = counting.Birth(stack, bytes, block.usable_bytes);
  NoteRealloc(thread, stack, old_tag.stack, old_tag.size(), bytes, moved != p, moved != p);
  thread.newest_block = moved;
  if (moved != p) old.tag->stack = kReleased;
  InFlight::End(*thread.shard);
  Exit(thread);
  if (moved != p) {
    heap::VisitClosed(heap::thread_words.cache);
    heap::FreeOfClassClosed(p, old.span->size_class);
  }
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

void HitRelease(void* p, void (*otherwise)(void* p)) {
  const uintptr_t pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  ThreadRecorder* const entered = TryEnter();
  if (MALLOW_UNLIKELY(entered == nullptr)) return otherwise(p);
  ThreadRecorder& thread = *entered;
  const heap::Span* const span = heap::PageMap::SpanOf(heap::PageOf(p));
  if (MALLOW_UNLIKELY(span == nullptr || span->state != heap::SpanState::kSmall)) {
    if (p == nullptr) return ReleaseNull(thread, pc, otherwise);
    Exit(thread);
    return otherwise(p);
  }
  size_t index;
  char* const records = __atomic_load_n(&span->records, __ATOMIC_ACQUIRE);
  if (MALLOW_UNLIKELY(!span->TryIndexOf(p, &index)) || MALLOW_UNLIKELY(records == nullptr)) {
    Exit(thread);
    return otherwise(p);
  }
  Tag* const tag = reinterpret_cast<Tag*>(records) + index;
  const StackId stack = tag->stack;
  // The size, if there is no more to the origin than that of a block of this thread that is not studied.
  uint64_t bytes = tag->origin ^ thread.origin;
  Study study = Study::kNone;
  if (MALLOW_UNLIKELY(bytes >> Tag::kSizeBits != 0)) {
    if (tag->shard() != thread.number) {
      Exit(thread);
      return otherwise(p);
    }
    bytes = tag->size();
    study = tag->study();
  }
  if (MALLOW_UNLIKELY(stack == kReleased)) {
    Exit(thread);
    return otherwise(p);
  }
  Counting counting(thread);
  Shard& shard = *thread.shard;
  InFlight::Begin(shard, stack);
  if (MALLOW_UNLIKELY(g_process.MayBeLibc(pc))) {
    if (g_process.IsLdSo(pc)) {
      InFlight::End(shard);
      Exit(thread);
      return otherwise(p);
    }
    if (g_process.IsLibc(pc)) shard.frees_libc++;
  }
  const uint64_t life = counting.CountDeathOfOwn(stack, bytes, tag->clock, p, Counting::Release::kFree);
  const bool due = counting.CountDeath(stack, bytes);
  shard.frees++;
  tag->stack = kReleased;
  if (MALLOW_UNLIKELY(due) || MALLOW_UNLIKELY(study != Study::kNone))
    return FinishDeath(thread, p, tag, stack, life, pc);
  thread.last_freed = stack;
  InFlight::End(shard);
  Exit(thread);
  heap::FreeOfClassClosed(p, span->size_class);
}

}  // namespace mallow::record
