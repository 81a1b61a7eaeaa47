// The slow functions: where a call of malloc or free goes when the thread cache cannot serve it.
//
//   malloc            hit: thread cache                                 (no call, no lock)
//     jmp SlowMalloc  starts the library at the first call
//       heap::Allocate              not recording
//       jmp RecordedMalloc          recording: every call comes here, because the caches stay empty
//         record::Allocate
//
// They are entered by a jump, so that the return address above their frame is that of malloc's caller.
#pragma once

#include <cstddef>

#include "api/call.h"
#include "record/control.h"

namespace mallow::api {

void* SlowMalloc(size_t bytes);
void* SlowCalloc(size_t count, size_t bytes);
void* SlowRealloc(void* p, size_t bytes);
void SlowFree(void* p);
// The same for a block that is said to have `bytes` bytes, which must be so if it is a large one.
void SlowFreeSized(void* p, size_t bytes);

// An aligned block, any alignment that is a power of two. Sets errno to ENOMEM when it returns null.
template <Function function>
void* SlowAligned(size_t alignment, size_t bytes);
// The same for posix_memalign: stores the block in *result and returns 0, or ENOMEM, and then *result is as it was.
int SlowAlignedInto(void** result, size_t alignment, size_t bytes);

// operator new: the new handler is asked until it gives up; then it throws or returns null.
template <Function function>
void* SlowNew(size_t bytes);
template <Function function>
void* SlowNewAligned(size_t bytes, size_t alignment);

// What is left of them when not every call is recorded, or the call is no common one. Apart, so that those save no registers.
MALLOW_NOINLINE void* OtherMalloc(size_t bytes);
MALLOW_NOINLINE void OtherFree(void* p);
MALLOW_NOINLINE void OtherFreeSized(void* p, size_t bytes);
template <Function function>
MALLOW_NOINLINE void* OtherNew(size_t bytes);

// The same while the process is recorded. Only the slow functions come here, by a jump: a frame of its own is what
// the capture of the caller's registers needs.
MALLOW_NOINLINE void* RecordedMalloc(size_t bytes);
MALLOW_NOINLINE void* RecordedCalloc(size_t bytes, size_t count);
MALLOW_NOINLINE void* RecordedRealloc(void* p, size_t bytes);
MALLOW_NOINLINE void* RecordedReallocToNothing(void* p);
MALLOW_NOINLINE void RecordedFree(void* p);
template <Function function>
MALLOW_NOINLINE void* RecordedAligned(size_t alignment, size_t bytes);
MALLOW_NOINLINE int RecordedAlignedInto(void** result, size_t alignment, size_t bytes);
template <Function function>
MALLOW_NOINLINE void* RecordedNew(size_t bytes);
template <Function function>
MALLOW_NOINLINE void* RecordedNewAligned(size_t bytes, size_t alignment);
// While only samples are recorded: of a block that was just made and is one.
template <Function function>
MALLOW_NOINLINE void* RecordedSample(void* p, size_t bytes);
// A call that failed before it came to the heap: sets errno to ENOMEM and returns null.
template <Function function>
MALLOW_NOINLINE void* RecordedFailure();

// The library is started, has no orders, and every call is recorded.
MALLOW_ALWAYS_INLINE bool RecordsEveryCall() {
  return MALLOW_LIKELY(record::g_recording_all) && !record::AttentionWanted();
}

// What posix_memalign returns for a block, or for none. Sets errno to ENOMEM with it, as glibc does.
MALLOW_ALWAYS_INLINE int Into(void** result, void* p) {
  if (MALLOW_UNLIKELY(p == nullptr)) {
    NoMemory();
    return ENOMEM;
  }
  *result = p;
  return 0;
}

// A pointer that is not the heap's: ignored when ld.so made the block before there was a malloc, left to libc when
// the process uses that one's malloc, else fatal.
void FreeForeign(void* p);
void* ReallocForeign(void* p, size_t bytes);
size_t UsableBytesOfForeign(const void* p);

// operator new could not be served: asks the new handler and serves again, until it can be served or
// there is no handler. The one throws std::bad_alloc then, the other returns null.
void* RetryNew(Call& call);
void* RetryNewNothrow(Call& call);

}  // namespace mallow::api
