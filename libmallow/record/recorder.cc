#include "record/recorder.h"

#include <string.h>

#include "base/check.h"
#include "heap/block.h"
#include "heap/damage.h"
#include "heap/hit_switch.h"
#include "heap/statistics.h"
#include "record/counting.h"
#include "record/module_generation.h"
#include "record/note.h"
#include "record/process.h"
#include "record/sampling.h"

MALLOW_LEAVE_NOTE(MALLOW_NOTE_TYPE_RECORDER);

namespace mallow::record {

constinit bool g_sampling = false;

namespace {

void NoteLost() { __atomic_fetch_add(&g_process.header().lost_calls, 1, __ATOMIC_RELAXED); }

// Of a block that was not seen to be born, or is no sample.
constexpr Tag kNotOurs = Tag::Of(kNoStack, 0, 0, kNoOwner, Study::kNone);

// The calling thread within the recorder. Not valid when it has no recorder, or is in here already (a signal handler
// interrupted it): then the call is served, and counted as lost.
class Entry {
 public:
  enum class Of { kCall, kNullFromLibc };

  explicit Entry(Of of = Of::kCall) {
    for (thread_ = Take(of); MALLOW_LIKELY(thread_ != nullptr); thread_ = Take(of)) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
      // Only now: a handler may have forked up to here, and the thread be that of the child.
      if (MALLOW_LIKELY(g_process.IsOfNow(*thread_))) return;
      End();
    }
    // Of a call that comes to be counted when the session is over nothing is lost.
    if (!g_process.HasEnded()) NoteLost();
  }
  ~Entry() {
    if (thread_ != nullptr) End();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  explicit operator bool() const { return thread_ != nullptr; }
  ThreadRecorder& thread() const { return *thread_; }

 private:
  // It is busy from then on; null: there is none, or it was.
  static ThreadRecorder* Take(Of of) {
    // libc frees null when a thread ends, and nobody would see it end after that.
    if (of == Of::kNullFromLibc) {
      if (ThreadRecorder* const lent = g_process.BorrowFirst()) return lent;
    }
    ThreadRecorder* const own = g_process.Current();
    if (MALLOW_UNLIKELY(own == nullptr)) return g_process.Borrow();
    if (MALLOW_UNLIKELY(own->state.busy)) return nullptr;
    own->state.busy = true;
    return own;
  }
  void End() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (MALLOW_UNLIKELY(thread_->state.borrowed != Loan::kNone)) return g_process.GiveBackBorrowed();
    thread_->state.busy = false;
  }

  ThreadRecorder* thread_;
};

MALLOW_ALWAYS_INLINE heap::Block Describe(const void* p) { return heap::Describe<kSideRecordBytes>(p); }
MALLOW_ALWAYS_INLINE Tag* TagOf(const heap::Block& block) { return static_cast<Tag*>(block.record); }

// The stack of a call of `function`, made if it is new.
MALLOW_ALWAYS_INLINE StackId StackOf(ThreadRecorder& thread, Function function, const Registers& registers) {
  const Registers* caller = &registers;
  if (MALLOW_UNLIKELY(thread.state.wrapped != Function::kNone)) {
    function = thread.state.wrapped;
    caller = &thread.wrapped_caller;
  }
  const Captured captured =
      thread.stack_cache.CaptureWithMemo(*caller, g_process.node_table(), &thread.shard->captures);
  if (MALLOW_UNLIKELY(captured.node == kRoot)) return kNoStack;
  const RegionId region = thread.regions.innermost();
  const uint32_t context = MemoKey(function, region);
  if (MALLOW_LIKELY(captured.memo != nullptr && captured.memo->key == context)) return captured.memo->value;
  // Late from the session before: its nodes mean nothing in this one.
  if (MALLOW_UNLIKELY(thread.session != g_process.session())) return kNoStack;
  StackId stack = g_process.stacks().FindStack(captured.node, function, region);
  if (stack == kNoStack) {
    StackTable& stacks = g_process.stacks();
    const uint32_t module = captured.caller != 0 ? stacks.FrameAt(captured.caller).module() : 0;
    const bool from_libc = g_process.modules().IsLibc(caller->pc - 1, module);
    stack = stacks.AddStack(captured.node, function, from_libc, region);
  }
  if (captured.memo == nullptr || stack == kNoStack) return stack;
  // There may be none before the first call.
  Counts* const counts = thread.KnownCountsOf(stack);
  if (counts != nullptr) *captured.memo = {counts, context, stack};
  return stack;
}

bool HasNewHandler(Function function) {
  return function >= Function::kNew && function <= Function::kNewArrayAlignedNothrow;
}

MALLOW_COLD void Fail(Function function, size_t bytes, const Registers& caller) {
  Entry entry;
  if (!entry) return;
  ThreadRecorder& thread = entry.thread();
  const StackId stack = StackOf(thread, function, caller);
  InFlight in_flight(*thread.shard, stack);
  Counting(thread).Failure(stack);
  if (thread.log != nullptr) thread.log->Failure(stack, bytes, thread.shard->events);
}

MALLOW_COLD void* Failed(Function function, size_t bytes, const Registers& caller) {
  if (!HasNewHandler(function)) Fail(function, bytes, caller);
  return nullptr;
}

NodeId NodeOf(ThreadRecorder& thread, const Registers& caller) {
  return thread.stack_cache.Capture(caller, g_process.node_table(), &thread.shard->captures);
}

uint64_t ClockOf(const ThreadRecorder& thread, const Tag& tag) {
  return tag.owner() == thread.owner ? tag.clock : EventStream::kNoClock;
}

// Blocks from before recording have no side record, nor has a block that has just been given an object of theirs.
MALLOW_COLD Tag* MakeTag(const void* p) {
  static_assert(kSideRecordBytes == sizeof(Tag));
  return static_cast<Tag*>(heap::MakeRecord(p));
}

// A sample's. Records that the record map does not know may be those that another thread is just making, and until it
// knows them the hit paths, which ask nothing else, would take the sample for none at its end. MakeTag waits for that.
heap::NewBlock DescribeSample(const void* p) {
  const heap::RecordedObject object = heap::RecordMap::At<kSideRecordBytes>(p);
  if (MALLOW_LIKELY(object.size_class != 0)) return {object.record, object.bytes()};
  return {MakeTag(p), Describe(p).usable_bytes};
}

// Counts a block that came into being, and writes its side record. `argument` is for the log.
template <bool kSampled>
MALLOW_ALWAYS_INLINE void* CountBirth(Function function, void* p, size_t bytes, const Registers& caller,
                                      uint64_t argument) {
  const heap::NewBlock block = kSampled ? DescribeSample(p) : heap::DescribeNew<kSideRecordBytes>(p);
  Tag* tag = static_cast<Tag*>(block.record);
  if (MALLOW_UNLIKELY(tag == nullptr) && (tag = MakeTag(p)) == nullptr) {
    // Its release will count as that of a block from before.
    NoteLost();
    return p;
  }
  Entry entry;
  if (!entry) {
    *tag = Tag::Of(kNoStack, 0, bytes, kNoOwner, Study::kNone);
    return p;
  }
  ThreadRecorder& thread = entry.thread();
  // A stack that has to be walked is a new one, as a rule.
  thread.PrefetchCounts(g_process.stacks().stack_count());
  const StackId stack = StackOf(thread, function, caller);
  if (MALLOW_UNLIKELY(stack == kNoStack)) thread.shard->lost_growth++;
  thread.PrefetchTraits(stack);
  InFlight in_flight(*thread.shard, stack);
  if constexpr (kSampled) Sampler::Catch(thread);
  *tag = Counting(thread).Birth(stack, bytes, block.usable_bytes);
  if constexpr (kSampled) g_sampler.WeighBirth(thread, stack, p, bytes);
  thread.newest_block = p;
  if (MALLOW_UNLIKELY(thread.log != nullptr)) {
    if (thread.state.wrapped != Function::kNone) argument = thread.wrapped_argument;
    thread.log->Birth(stack, bytes, p, argument, thread.shard->events);
  }
  return p;
}

MALLOW_NOINLINE void* BornPerhapsSample(Function function, void* p, size_t bytes, const Registers& caller) {
  return MALLOW_LIKELY(IsNoSample(p, bytes)) ? p : AddSample(function, p, bytes, caller);
}

MALLOW_ALWAYS_INLINE void* Born(Function function, void* p, size_t bytes, const Registers& caller,
                                uint64_t argument = 0) {
  if (MALLOW_UNLIKELY(p == nullptr)) return Failed(function, bytes, caller);
  if (MALLOW_UNLIKELY(g_sampling)) return BornPerhapsSample(function, p, bytes, caller);
  return CountBirth<false>(function, p, bytes, caller, argument);
}

// For a block that is about to be released and whose side record does not say where it comes from. A thread that was
// within malloc when recording began may have been given, unseen, a block of which the last thing seen is a release.
MALLOW_COLD const Tag* NotKnown(const Tag* tag, const void* p, const char* twice) {
  if (tag != nullptr && g_process.from_beginning()) DieAt(twice, p);
  return &kNotOurs;
}

MALLOW_ALWAYS_INLINE const Tag* Known(const Tag* tag, const void* p, const char* twice) {
  return MALLOW_UNLIKELY(tag == nullptr || tag->stack == kReleased) ? NotKnown(tag, p, twice) : tag;
}

MALLOW_ALWAYS_INLINE void CountDeath(ThreadRecorder& thread, const Tag& tag, const void* p,
                                     Counting::Release how, uintptr_t pc) {
  if (MALLOW_LIKELY(tag.owner() == thread.owner || IsOurs(tag))) {
    Counting(thread).Death(tag, p, how, pc);
  } else {
    thread.shard->inherited_frees++;
    thread.shard->events++;
  }
}

StackId NullStackOf(ThreadRecorder& thread, uintptr_t pc) {
  ThreadRecorder::CallerSlot& slot = thread.CallerAt(pc);
  if (slot.null_stack != kNoStack || slot.node == kRoot) return slot.null_stack;
  slot.null_stack = g_process.stacks().FindStack(slot.node, Function::kFreeNull);
  if (slot.null_stack == kNoStack) {
    slot.null_stack = g_process.stacks().AddStack(slot.node, Function::kFreeNull, g_process.IsLibc(pc));
  }
  return slot.null_stack;
}

bool IsSample(const Tag* tag) { return tag != nullptr && IsOurs(*tag); }

MALLOW_ALWAYS_INLINE void CountFree(ThreadRecorder& thread, StackId stack, uintptr_t pc) {
  thread.shard->frees++;
  if (FreesForItself(stack, pc)) thread.shard->frees_libc++;
}

// The end of every release; `pc` is its return address.
MALLOW_ALWAYS_INLINE void GiveBack(void* p, const heap::Block& block, uintptr_t pc) {
  // dlclose has unmapped an object by the time it frees what ld.so kept of it.
  if (MALLOW_UNLIKELY(g_process.IsLdSo(pc))) LoaderFreed(p);
  heap::Free(p, block);
}

// The end of a sample. Nothing is known of its memory from here on: what is not a sample has no record, or this one.
MALLOW_NOINLINE void EndSample(Tag* tag, const void* p, Counting::Release how, const Registers& caller) {
  const Tag known = *tag;
  *tag = kNotOurs;
  Entry entry;
  if (!entry) return;
  // A fork child notices here that it is one.
  if (!IsOurs(known)) return Sampler::NoteDeath();
  ThreadRecorder& thread = entry.thread();
  InFlight in_flight(*thread.shard, known.stack);
  Sampler::Catch(thread);
  Counting(thread).Death(known, p, how, caller.pc);
  g_sampler.WeighDeath(thread, known);
  if (how == Counting::Release::kFree) CountFree(thread, known.stack, caller.pc);
}

void EndPerhapsSample(Tag* tag, const void* p, Counting::Release how, const Registers& caller) {
  IsSample(tag) ? EndSample(tag, p, how, caller) : Sampler::NoteDeath();
}

MALLOW_NOINLINE bool ReleasePerhapsSample(void* p, const heap::Block& block, const Registers& caller) {
  EndPerhapsSample(TagOf(block), p, Counting::Release::kFree, caller);
  GiveBack(p, block, caller.pc);
  return true;
}

MALLOW_NOINLINE void* ReallocatePerhapsSample(Function function, void* p, size_t bytes,
                                              const Registers& caller) {
  const heap::Block old = Describe(p);
  if (MALLOW_UNLIKELY(old.span == nullptr)) heap::DieOfNoBlock("realloc()", p);
  void* moved = p;
  if (!heap::ResizeInPlace(p, bytes)) {
    moved = heap::Relocate(p, bytes);
    if (moved == nullptr) return Failed(function, bytes, caller);
  }
  EndPerhapsSample(TagOf(Describe(p)), p, Counting::Release::kRealloc, caller);
  BornPerhapsSample(function, moved, bytes, caller);
  if (moved != p) heap::Free(p, old);
  return moved;
}

void ReleaseNull(const Registers& caller) {
  Entry entry(g_process.IsLibc(caller.pc) ? Entry::Of::kNullFromLibc : Entry::Of::kCall);
  if (!entry) return;
  ThreadRecorder& thread = entry.thread();
  const StackId stack = NullStackOf(thread, caller.pc);
  InFlight in_flight(*thread.shard, stack);
  Counting(thread).NullRelease(stack);
  if (MALLOW_UNLIKELY(thread.log != nullptr)) {
    thread.log->NullRelease(NodeOf(thread, caller), thread.shard->events);
  }
}

}  // namespace

void SampleEvery(uint64_t bytes) {
  g_sampler.SetMean(bytes);
  g_sampling = bytes != 0;
}

bool Start(const char* folder) {
  heap::Configure(g_sampling ? 0 : kSideRecordBytes, true);
  if (g_sampling) {
    // Of samples there are few: they are given side records, of this width, when they are there.
    heap::RecordFromNowOn(kSideRecordBytes);
    heap::RecordFromNowOn(0);
  }
  g_recording = g_process.Start(folder, 0);
  g_recording_all = g_recording && !g_sampling;
  return g_recording;
}

bool Join(const char* folder, uint64_t sample) {
  SampleEvery(sample);
  const uint64_t there = heap::GetStatistics().in_use_bytes;
  // From here on new spans have side records; whatever has none when it is wanted is given one.
  heap::RecordFromNowOn(kSideRecordBytes);
  if (!g_process.Start(folder, there + 1)) {
    heap::RecordFromNowOn(0);
    return false;
  }
  if (g_sampling) heap::RecordFromNowOn(0);
  // No call is recorded before none can be missed: a block that was seen to be born must be seen to die.
  heap::CloseAllHitPaths();
  __atomic_store_n(&g_recording_all, !g_sampling, __ATOMIC_RELEASE);
  __atomic_store_n(&g_recording, true, __ATOMIC_RELEASE);
  return true;
}

void Leave() {
  __atomic_store_n(&g_recording_all, false, __ATOMIC_RELAXED);
  __atomic_store_n(&g_recording, false, __ATOMIC_RELAXED);
  g_process.Stop();
  heap::RecordFromNowOn(0);
  heap::OpenAllHitPaths();
}

MALLOW_ALIGNS_STACK void* Allocate(Function function, size_t bytes, const Registers& caller) {
  // The hit path never hits while every call is slow.
  return Born(function, heap::AllocateSlow(bytes), bytes, caller);
}

MALLOW_ALIGNS_STACK void* AllocateZeroed(Function function, size_t bytes, size_t count,
                                         const Registers& caller) {
  return Born(function, heap::AllocateZeroed(bytes), bytes, caller, count == 1 ? 0 : count);
}

MALLOW_ALIGNS_STACK void* AllocateAligned(Function function, size_t alignment, size_t bytes,
                                          const Registers& caller) {
  // pvalloc asks for whole pages, however few bytes its caller asked for.
  const size_t served = function == Function::kPvalloc ? (bytes + alignment - 1) & ~(alignment - 1) : bytes;
  return Born(function, heap::AllocateAligned(alignment, served), bytes, caller, alignment);
}

bool IsNoSample(void* p, size_t bytes) {
  if (MALLOW_UNLIKELY(g_sampler.Takes(bytes))) return false;
  Sampler::NoteBirth(p);
  return true;
}

MALLOW_ALIGNS_STACK void* AddSample(Function function, void* p, size_t bytes, const Registers& caller) {
  return CountBirth<true>(function, p, bytes, caller, 0);
}

bool ReleaseNoSample(void* p, const void* return_address) {
  const heap::Block block = Describe(p);
  if (MALLOW_UNLIKELY(block.span == nullptr)) return false;
  if (MALLOW_UNLIKELY(IsSample(TagOf(block)))) return false;
  Sampler::NoteDeath();
  GiveBack(p, block, reinterpret_cast<uintptr_t>(return_address));
  return true;
}

MALLOW_ALIGNS_STACK void NoteFailed(Function function, size_t bytes, const Registers& caller) {
  static_assert(kUnknownBytes == SIZE_MAX);
  Fail(function, bytes, caller);
}

MALLOW_ALIGNS_STACK bool Release(void* p, const Registers& caller) {
  if (p == nullptr) {
    ReleaseNull(caller);
    return true;
  }
  const heap::Block block = Describe(p);
  if (MALLOW_UNLIKELY(block.span == nullptr)) return false;
  if (MALLOW_UNLIKELY(g_sampling)) return ReleasePerhapsSample(p, block, caller);
  Tag* tag = TagOf(block);
  const Tag* known = Known(tag, p, "free(): double free of a block");
  if (Entry entry; entry) {
    ThreadRecorder& thread = entry.thread();
    InFlight in_flight(*thread.shard, known->stack);
    CountDeath(thread, *known, p, Counting::Release::kFree, caller.pc);
    CountFree(thread, known->stack, caller.pc);
    if (MALLOW_UNLIKELY(thread.log != nullptr)) {
      thread.log->Death(NodeOf(thread, caller), p, ClockOf(thread, *known), thread.shard->events);
    }
  }
  if (MALLOW_LIKELY(tag != nullptr)) tag->stack = kReleased;
  GiveBack(p, block, caller.pc);
  return true;
}

MALLOW_ALIGNS_STACK void* Reallocate(Function function, void* p, size_t bytes, const Registers& caller) {
  if (p == nullptr) return Allocate(function, bytes, caller);
  if (bytes == 0) {
    Release(p, caller);
    return nullptr;
  }
  if (MALLOW_UNLIKELY(g_sampling)) return ReallocatePerhapsSample(function, p, bytes, caller);
  const heap::Block old_block = Describe(p);
  if (MALLOW_UNLIKELY(old_block.span == nullptr)) heap::DieOfNoBlock("realloc()", p);
  Tag* tag = TagOf(old_block);
  const Tag old = *Known(tag, p, "realloc(): the block was freed before");
  void* moved = p;
  if (!heap::ResizeInPlace(p, bytes)) {
    moved = heap::Relocate(p, bytes);
    if (moved == nullptr) return Failed(function, bytes, caller);
  }
  const heap::Block block = Describe(moved);
  Tag* moved_tag = TagOf(block);
  if (MALLOW_UNLIKELY(moved_tag == nullptr)) moved_tag = MakeTag(moved);
  // Made with that of the new block where both lie in one span.
  if (MALLOW_UNLIKELY(tag == nullptr)) tag = TagOf(Describe(p));
  if (MALLOW_UNLIKELY(moved_tag == nullptr)) {
    NoteLost();
  } else if (Entry entry; entry) {
    ThreadRecorder& thread = entry.thread();
    const StackId stack = StackOf(thread, function, caller);
    if (MALLOW_UNLIKELY(stack == kNoStack)) thread.shard->lost_growth++;
    const bool wrapped = thread.state.wrapped != Function::kNone;
    const uintptr_t pc = wrapped ? thread.wrapped_caller.pc : caller.pc;
    InFlight in_flight(*thread.shard, stack);
    CountDeath(thread, old, p, Counting::Release::kRealloc, pc);
    *moved_tag = Counting(thread).Birth(stack, bytes, block.usable_bytes);
    NoteRealloc(thread, stack, old.stack, old.size(), bytes, moved != p,
                moved != p && !heap::MovedAway(old_block));
    thread.newest_block = moved;
    if (MALLOW_UNLIKELY(thread.log != nullptr)) {
      thread.log->Move(stack, p, ClockOf(thread, old), bytes, moved, thread.shard->events);
    }
  } else {
    *moved_tag = Tag::Of(kNoStack, 0, bytes, kNoOwner, Study::kNone);
  }
  if (moved != p) {
    if (MALLOW_LIKELY(tag != nullptr)) tag->stack = kReleased;
    heap::Free(p, old_block);
  }
  return moved;
}

void NoteOwnMalloc() { g_process.header().incomplete |= kOwnMalloc; }

void BeginWrapped(Function function, uintptr_t argument, const Registers& caller) {
  ThreadRecorder* thread = g_process.Current();
  if (thread == nullptr) return;
  thread->wrapped_caller = caller;
  thread->wrapped_argument = argument;
  thread->state.wrapped = function;
}

void EndWrapped() {
  if (ThreadRecorder* thread = g_process.Current(); thread != nullptr)
    thread->state.wrapped = Function::kNone;
}

}  // namespace mallow::record
