// The recorder: what api/ calls instead of heap:: while the process is recorded.
//
// Every call is counted under its whole stack, in the shard of the calling thread, before it returns
// (exact at a kill: see format/recording.md, "Shards"). Callable from any thread at any time, also before
// constructors, in signal handlers that did not interrupt the allocator, and in fork children, which
// open an image file of their own before their first record. A handler that did interrupt the
// recorder is served and counted as a lost call.
//
// Cost per malloc/free pair: one capture (see stack_cache.h) and two counter records. hit.cc has what nearly every call
// comes to, recorder.cc all cases.
#pragma once

#include <cstddef>

#include "base/config.h"
#include "record/image_format.h"
#include "record/unwind.h"

namespace mallow::record {

// Set by Start, before the first allocation is served; in a running program by control.h.
extern MALLOW_INTERNAL bool g_recording;
// The same, but only while every call is recorded and not samples of them.
extern MALLOW_INTERNAL bool g_recording_all;

// Opens the recording in `folder` (absolute or relative to the present directory), which must exist. False: it
// cannot be recorded, and the program goes on unrecorded. Before the first allocation.
bool Start(const char* folder);
// Before it: an ordered log of at most so many bytes is kept beside the image file, see event_log.h.
void KeepLog(uint64_t limit_bytes);
inline constexpr size_t kSideRecordBytes = 16;

// Before Start. Not every call is recorded, but blocks at a mean distance of so many bytes, see sampling.h.
// 0: every call.
void SampleEvery(uint64_t bytes);

// The same in a process that runs: recorded are the calls that begin from now on, in all threads; blocks that are there
// already are "from before". For control.h, under its lock.
bool Join(const char* folder, uint64_t sample);
// Ends the recording; the hit paths open again.
void Leave();

// Most calls while every call is recorded: of a stack that the thread knows, for a small block that lies in its cache.
// What is not of that kind is left to `otherwise`, by a jump, and nothing has happened then. To be entered by a jump
// from what the program has called, the frame above is the caller's.
template <Function function>
void* HitAllocate(size_t bytes, void* (*otherwise)(size_t bytes));
void* HitAllocateZeroed(size_t bytes, size_t count, void* (*otherwise)(size_t bytes, size_t count));
// `bytes` is not 0 nor `p` null.
void* HitReallocate(void* p, size_t bytes, void* (*otherwise)(void* p, size_t bytes));
// `bytes` is what a sized delete says, for `otherwise` alone.
template <typename... Said>
using OtherRelease = void(void* p, Said... said);
void HitRelease(void* p, OtherRelease<>* otherwise);
void HitReleaseSized(void* p, size_t bytes, OtherRelease<size_t>* otherwise);

// Each returns a block or null (no memory; errno is the caller's business). A null counts as a failed call,
// except for operator new, whose handler may yet find memory: that notes its failure at the end.
void* Allocate(Function function, size_t bytes, const Registers& caller);
// `count` of calloc is for the log alone.
void* AllocateZeroed(Function function, size_t bytes, size_t count, const Registers& caller);
void* AllocateAligned(Function function, size_t alignment, size_t bytes, const Registers& caller);
// While only samples are recorded most calls need none of this, nor the caller's registers: IsNoSample, of a block that
// heap:: has just given out, and ReleaseNoSample say so, and have done all there is to do. Else AddSample counts the
// block, and Release is called.
extern MALLOW_INTERNAL bool g_sampling;
bool IsNoSample(void* p, size_t bytes);
void* AddSample(Function function, void* p, size_t bytes, const Registers& caller);
bool ReleaseNoSample(void* p, const void* return_address);
// What malloc and free of a small block that is no sample come to, in few instructions; `otherwise` is called, as if it
// were in their place, for all else. They may go on when nothing is recorded any more.
void* AllocateNoSample(size_t bytes, void* (*otherwise)(size_t bytes));
void FreeNoSample(void* p, void (*otherwise)(void* p));
void FreeNoSampleSized(void* p, size_t bytes, void (*otherwise)(void* p, size_t bytes));

// p may be null. With bytes == 0 and a block it releases the block and returns null.
void* Reallocate(Function function, void* p, size_t bytes, const Registers& caller);
// p may be null. A second release of the same block ends the process with one sentence. False, and nothing is
// done: p is not the start of a block of this heap.
bool Release(void* p, const Registers& caller);
// A call that failed before it came to the heap (overflow, bad size), or after all that was tried beyond it. `bytes`:
// SIZE_MAX when there is no such size.
void NoteFailed(Function function, size_t bytes, const Registers& caller);

// Until EndWrapped, allocations of this thread count as `function`, called by `caller`: for strdup
// and the like, which call the public malloc. `argument`: what the log says of the call.
void BeginWrapped(Function function, uintptr_t argument, const Registers& caller);
void EndWrapped();

// Regions and units of work; see mallow.h, whose functions call them while g_recording. Names are copied. A call that a
// signal handler makes while its thread is inside the recorder is lost, and counted as such.
uint32_t BeginRegion(const char* name);  // returns how many regions the thread was in
void EndRegion();
void EndRegionsTo(uint32_t depth);
void CountUnit(const char* name, uint64_t amount);
// After Start, before there are other threads: counts the calls of functions as units (call_counter.h).
void CountCalls(const char* functions);

// The program brings a malloc of its own, or valgrind one for it: the recording lacks what that one serves.
void NoteOwnMalloc();

// Fork, before the heap's: every lock of the recorder, or none and false when one is not to be had soon. A child that
// goes on in what a handler interrupted may be waiting for one of them, and its holder does not live there. A process of one
// thread that is not recorded needs none.
bool TryBeforeFork();
void AfterFork(bool child);
// In the child, before that.
void PartFromParent();

}  // namespace mallow::record
