// operator new where the thread cache cannot serve it. In a file of its own, so that libmallow.a brings operator new,
// and its need of a C++ runtime, into C++ programs only.
#include "api/caller.h"
#include "api/slow.h"
#include "api/startup.h"
#include "heap/heap.h"
#include "heap/thread_cache.h"

namespace mallow::api {
namespace {

template <Function function>
MALLOW_COLD void* RetryUnrecorded(size_t bytes, size_t alignment) {
  Call call{{}, function, alignment, bytes};
  return IsNothrow(function) ? RetryNewNothrow(call) : RetryNew(call);
}

template <Function function>
MALLOW_NOINLINE void* SampledNew(size_t bytes) {
  void* const p = bytes <= kMaxBytes ? heap::AllocateSlow(bytes) : nullptr;
  if (MALLOW_UNLIKELY(p == nullptr)) return RecordedNew<function>(bytes);
  return MALLOW_LIKELY(record::IsNoSample(p, bytes)) ? p : RecordedSample<function>(p, bytes);
}

MALLOW_ALIGNS_STACK MALLOW_NOINLINE void* New(Function function, size_t bytes, size_t alignment,
                                              const record::Registers& caller) {
  Call call{caller, function, alignment, bytes};
  void* p = Serve(call);
  if (MALLOW_LIKELY(p != nullptr)) return p;
  return IsNothrow(function) ? RetryNewNothrow(call) : RetryNew(call);
}

}  // namespace

template <Function function>
void* OtherNew(size_t bytes) {
  EnsureStarted();
  if (record::g_recording)
    return MALLOW_UNLIKELY(record::g_sampling) ? SampledNew<function>(bytes) : RecordedNew<function>(bytes);
  void* p = bytes <= kMaxBytes ? heap::AllocateSlow(bytes) : nullptr;
  return p != nullptr ? p : RetryUnrecorded<function>(bytes, 0);
}

template void* OtherNew<Function::kNew>(size_t);
template void* OtherNew<Function::kNewArray>(size_t);
template void* OtherNew<Function::kNewNothrow>(size_t);
template void* OtherNew<Function::kNewArrayNothrow>(size_t);

template <Function function>
void* SlowNew(size_t bytes) {
  if (RecordsEveryCall() && MALLOW_LIKELY(bytes <= heap::kMaxSmallBytes))
    return record::HitAllocate<function>(bytes, &RecordedNew<function>);
  return OtherNew<function>(bytes);
}

template void* SlowNew<Function::kNew>(size_t);
template void* SlowNew<Function::kNewArray>(size_t);
template void* SlowNew<Function::kNewNothrow>(size_t);
template void* SlowNew<Function::kNewArrayNothrow>(size_t);

template <Function function>
void* SlowNewAligned(size_t bytes, size_t alignment) {
  EnsureStarted();
  if (record::g_recording) return RecordedNewAligned<function>(bytes, alignment);
  void* p = CanBe(bytes, alignment) ? heap::AllocateAligned(alignment, bytes) : nullptr;
  return p != nullptr ? p : RetryUnrecorded<function>(bytes, alignment);
}

template void* SlowNewAligned<Function::kNewAligned>(size_t, size_t);
template void* SlowNewAligned<Function::kNewArrayAligned>(size_t, size_t);
template void* SlowNewAligned<Function::kNewAlignedNothrow>(size_t, size_t);
template void* SlowNewAligned<Function::kNewArrayAlignedNothrow>(size_t, size_t);

void* Serve(const Call& call) {
  if (!CanBe(call.bytes, call.alignment)) return nullptr;
  if (record::g_recording) {
    return call.alignment == 0
               ? record::Allocate(call.function, call.bytes, call.caller)
               : record::AllocateAligned(call.function, call.alignment, call.bytes, call.caller);
  }
  return call.alignment == 0 ? heap::Allocate(call.bytes) : heap::AllocateAligned(call.alignment, call.bytes);
}

template <Function function>
void* RecordedNew(size_t bytes) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return New(function, bytes, 0, caller);
}

template void* RecordedNew<Function::kNew>(size_t);
template void* RecordedNew<Function::kNewArray>(size_t);
template void* RecordedNew<Function::kNewNothrow>(size_t);
template void* RecordedNew<Function::kNewArrayNothrow>(size_t);

template <Function function>
void* RecordedNewAligned(size_t bytes, size_t alignment) {
  record::Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return New(function, bytes, alignment, caller);
}

template void* RecordedNewAligned<Function::kNewAligned>(size_t, size_t);
template void* RecordedNewAligned<Function::kNewArrayAligned>(size_t, size_t);
template void* RecordedNewAligned<Function::kNewAlignedNothrow>(size_t, size_t);
template void* RecordedNewAligned<Function::kNewArrayAlignedNothrow>(size_t, size_t);

}  // namespace mallow::api
