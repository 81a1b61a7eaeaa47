// The slow functions while the process is recorded.
//
// Each captures its caller's registers and then makes one call; nothing of theirs lives across it, so that
// they keep nothing in callee-saved registers (see caller.h).
#include "api/caller.h"
#include "api/slow.h"

namespace mallow::api {
namespace {

MALLOW_NOINLINE void* Fail(Function function, const record::Registers& caller) {
  if (record::g_recording) record::NoteFailed(function, caller);
  return NoMemory();
}

}  // namespace

void* RecordedMalloc(size_t bytes) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return OrNoMemory(record::Allocate(Function::kMalloc, bytes, caller));
}

void* RecordedCalloc(size_t bytes) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return OrNoMemory(record::AllocateZeroed(Function::kCalloc, bytes, caller));
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
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  record::Release(p, caller);
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
template void* RecordedAligned<Function::kPosixMemalign>(size_t, size_t);
template void* RecordedAligned<Function::kValloc>(size_t, size_t);
template void* RecordedAligned<Function::kPvalloc>(size_t, size_t);

}  // namespace mallow::api
