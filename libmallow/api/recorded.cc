// The slow functions while the process is recorded.
//
// Each captures its caller's registers and then makes one call; nothing of theirs lives across it, so that
// they keep nothing in callee-saved registers (see caller.h).
#include "api/caller.h"
#include "api/slow.h"
#include "heap/damage.h"
#include "heap/heap.h"

namespace mallow::api {
namespace {

MALLOW_NOINLINE void* Fail(Function function, const record::Registers& caller) {
  if (record::g_recording) record::NoteFailed(function, SIZE_MAX, caller);
  return NoMemory();
}

// No start of a block of ours.
MALLOW_COLD void FreeUnknown(void* p) {
  if (heap::Owns(p)) heap::DieOfNoBlock("free()", p);
  FreeForeign(p);
}

}  // namespace

void* RecordedMalloc(size_t bytes) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return OrNoMemory(record::Allocate(Function::kMalloc, bytes, caller));
}

template <Function function>
void* RecordedSample(void* p, size_t bytes) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return record::AddSample(function, p, bytes, caller);
}

template void* RecordedSample<Function::kMalloc>(void*, size_t);
template void* RecordedSample<Function::kNew>(void*, size_t);
template void* RecordedSample<Function::kNewArray>(void*, size_t);
template void* RecordedSample<Function::kNewNothrow>(void*, size_t);
template void* RecordedSample<Function::kNewArrayNothrow>(void*, size_t);

void* RecordedCalloc(size_t bytes, size_t count) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return OrNoMemory(record::AllocateZeroed(Function::kCalloc, bytes, count, caller));
}

void* RecordedRealloc(void* p, size_t bytes) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return OrNoMemory(record::Reallocate(Function::kRealloc, p, bytes, caller));
}

void* RecordedReallocToNothing(void* p) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return record::Reallocate(Function::kRealloc, p, 0, caller);
}

void RecordedFree(void* p) {
  // What is needed after the call lies where the recorder could reach it, not in a register.
  struct {
    record::Registers caller;
    void* p;
  } call;
  MALLOW_CAPTURE_CALLER(call.caller);
  call.p = p;
  if (MALLOW_UNLIKELY(!record::Release(p, call.caller))) FreeUnknown(call.p);
}

template <Function function>
void* RecordedFailure() {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return Fail(function, caller);
}

template void* RecordedFailure<Function::kMalloc>();
template void* RecordedFailure<Function::kCalloc>();
template void* RecordedFailure<Function::kRealloc>();
template void* RecordedFailure<Function::kReallocarray>();
template void* RecordedFailure<Function::kMemalign>();
template void* RecordedFailure<Function::kAlignedAlloc>();
template void* RecordedFailure<Function::kPosixMemalign>();
template void* RecordedFailure<Function::kValloc>();
template void* RecordedFailure<Function::kPvalloc>();

template <Function function>
void* RecordedAligned(size_t alignment, size_t bytes) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return OrNoMemory(record::AllocateAligned(function, alignment, bytes, caller));
}

template void* RecordedAligned<Function::kMemalign>(size_t, size_t);
template void* RecordedAligned<Function::kAlignedAlloc>(size_t, size_t);
template void* RecordedAligned<Function::kValloc>(size_t, size_t);
template void* RecordedAligned<Function::kPvalloc>(size_t, size_t);

int RecordedAlignedInto(void** result, size_t alignment, size_t bytes) {
  struct {
    record::Registers caller;
    void** result;
  } call;
  MALLOW_CAPTURE_CALLER(call.caller);
  call.result = result;
  void* const p = record::AllocateAligned(Function::kPosixMemalign, alignment, bytes, call.caller);
  return Into(call.result, p);
}

}  // namespace mallow::api
