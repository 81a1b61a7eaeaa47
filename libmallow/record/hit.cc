// What nearly every recorded call comes to, in one piece: a stack that a leaf entry knows, a small block of the thread's
// cache, counters that are there. It does what Allocate and Release of recorder.cc do in such a case, and leaves
// everything else to them.
//
// A call is refused before anything of it has happened. Whoever then captures all registers finds them as the caller left
// them: what is used here is given back before the jump.
#include <string.h>

#include "heap/block.h"
#include "record/counting.h"
#include "record/leaf_hit.h"
#include "record/oracle_hook.h"
#include "record/process.h"
#include "record/recorder.h"

namespace mallow::record {
namespace {

// The calling thread within the recorder, as Entry of recorder.cc has it, if there is nothing about it that wants more
// than counting.
class PlainEntry {
 public:
  PlainEntry() : thread_(t_recorder) {
    if (MALLOW_UNLIKELY(!IsRecorder(thread_) || !thread_->state.is_plain())) {
      thread_ = nullptr;
      return;
    }
    thread_->state.SetBusy(true);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // Only now: a handler may have forked up to here, and the thread be that of the child.
    if (MALLOW_LIKELY(g_process.IsOfNow(*thread_))) return;
    thread_->state.SetBusy(false);
    thread_ = nullptr;
  }
  ~PlainEntry() {
    if (thread_ == nullptr) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_->state.SetBusy(false);
  }
  PlainEntry(const PlainEntry&) = delete;
  PlainEntry& operator=(const PlainEntry&) = delete;

  explicit operator bool() const { return thread_ != nullptr && MALLOW_LIKELY(thread_->log == nullptr); }
  ThreadRecorder& thread() const { return *thread_; }

 private:
  ThreadRecorder* thread_;
};

MALLOW_ALWAYS_INLINE void* TryAllocate(size_t bytes, Function function, const uintptr_t* frame) {
  const PlainEntry entry;
  if (MALLOW_UNLIKELY(!entry)) return nullptr;
  ThreadRecorder& thread = entry.thread();
  // What takes its time to arrive is asked for first: the block, its span, and where its side record lies.
  const heap::NextSmall small = heap::PeekClosed(bytes);
  void* const p = small.next.object;
  if (MALLOW_UNLIKELY(p == nullptr)) return nullptr;
  const heap::Block block = heap::DescribeNew<kSideRecordBytes>(p);
  if (MALLOW_UNLIKELY(block.record == nullptr)) return nullptr;
  // The frame holds the caller's rbp, then the return address.
  const uintptr_t pc = frame[1], sp = reinterpret_cast<uintptr_t>(frame + 2), bp = frame[0];
  const LeafEntry* const leaf = thread.stack_cache.TryHit(pc, sp, bp);
  if (MALLOW_UNLIKELY(leaf == nullptr)) return nullptr;
  const NodeMemo memo = leaf->memo;
  if (MALLOW_UNLIKELY(memo.key != MemoKey(function, thread.regions.innermost()) || memo.place == nullptr))
    return nullptr;
  if (MALLOW_UNLIKELY(!heap::TryTakeClosed(small))) return nullptr;
  // Stacks that need more registers have no leaf entries.
  if constexpr (kOracleBuild) CheckAgainstOracle({pc, sp, bp, 0, 0, 0, 0, 0}, leaf->node);
  thread.stack_cache.CountHit(*leaf, &thread.shard->captures);
  const InFlight in_flight(*thread.shard, memo.value);
  *static_cast<Tag*>(block.record) =
      Counting(thread).Birth(*static_cast<Births*>(memo.place), memo.value, bytes, block.usable_bytes);
  thread.newest_block = p;
  heap::VisitClosed(small.cache);
  return p;
}

// Null, and nothing has happened: Release is to be called. Else the span of the block, whose end has been counted.
MALLOW_ALWAYS_INLINE const heap::Span* TryCountRelease(void* p, uintptr_t pc) {
  const PlainEntry entry;
  if (MALLOW_UNLIKELY(!entry)) return nullptr;
  ThreadRecorder& thread = entry.thread();
  const heap::Span* const span = heap::PageMap::SpanOf(heap::PageOf(p));
  if (MALLOW_UNLIKELY(span == nullptr || span->state != heap::SpanState::kSmall)) return nullptr;
  const int index = span->IndexOf(p);
  char* const records = __atomic_load_n(&span->records, __ATOMIC_ACQUIRE);
  if (MALLOW_UNLIKELY(index < 0 || records == nullptr)) return nullptr;
  Tag* const tag = reinterpret_cast<Tag*>(records) + index;
  const StackId stack = tag->stack;
  if (MALLOW_UNLIKELY(stack == kReleased)) return nullptr;
  // The size, if there is no more to the origin than that of a block of this thread that is not studied.
  uint64_t bytes = tag->origin ^ Tag::OriginOf(thread.number);
  Study study = Study::kNone;
  if (MALLOW_UNLIKELY(bytes >> Tag::kSizeBits != 0)) {
    if (tag->shard() != thread.number) return nullptr;
    study = tag->study();
    bytes = tag->size();
  }
  bool from_libc = false;
  if (MALLOW_UNLIKELY(g_process.MayBeLibc(pc))) {
    if (g_process.IsLdSo(pc)) return nullptr;
    from_libc = g_process.IsLibc(pc);
  }
  const InFlight in_flight(*thread.shard, stack);
  Counting(thread).DeathOfOwn(stack, bytes, tag->clock, study, p, Counting::Release::kFree, pc);
  thread.shard->frees++;
  if (MALLOW_UNLIKELY(from_libc)) thread.shard->frees_libc++;
  tag->stack = kReleased;
  return span;
}

}  // namespace

void* HitAllocate(size_t bytes, Function function, void* (*otherwise)(size_t bytes)) {
  void* const p = TryAllocate(bytes, function, static_cast<const uintptr_t*>(__builtin_frame_address(0)));
  return MALLOW_LIKELY(p != nullptr) ? p : otherwise(bytes);
}

void* HitAllocateZeroed(size_t bytes, size_t count, void* (*otherwise)(size_t bytes, size_t count)) {
  void* const p =
      TryAllocate(bytes, Function::kCalloc, static_cast<const uintptr_t*>(__builtin_frame_address(0)));
  return MALLOW_LIKELY(p != nullptr) ? memset(p, 0, bytes) : otherwise(bytes, count);
}

void HitRelease(void* p, void (*otherwise)(void* p)) {
  const heap::Span* const span = TryCountRelease(p, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  if (MALLOW_UNLIKELY(span == nullptr)) return otherwise(p);
  heap::FreeOfClassClosed(p, span->size_class);
}

}  // namespace mallow::record
