#include "api/slow.h"

#include <cstring>

#include "api/startup.h"
#include "heap/heap.h"
#include "heap/thread_cache.h"

namespace mallow::api {
namespace {

void* Move(void* from, size_t bytes) {
  void* to = heap::Relocate(from, bytes);
  if (to != nullptr && to != from && !heap::TryFree(from)) heap::FreeSlow(from);
  return to;
}

MALLOW_NOINLINE void* SampledMalloc(size_t bytes) {
  void* const p = heap::AllocateSlow(bytes);
  if (MALLOW_UNLIKELY(p == nullptr)) return RecordedFailure<Function::kMalloc>();
  return MALLOW_LIKELY(record::IsNoSample(p, bytes)) ? p : RecordedSample<Function::kMalloc>(p, bytes);
}

MALLOW_NOINLINE void SampledFree(void* p) {
  if (MALLOW_UNLIKELY(!record::ReleaseNoSample(p, __builtin_return_address(0)))) RecordedFree(p);
}

MALLOW_NOINLINE void* OtherCalloc(size_t count, size_t bytes) {
  EnsureStarted();
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total) || total > kMaxBytes) {
    return RecordedFailure<Function::kCalloc>();
  }
  if (record::g_recording) return RecordedCalloc(total, count);
  return OrNoMemory(heap::AllocateZeroed(total));
}

MALLOW_NOINLINE void* OtherRealloc(void* p, size_t bytes) {
  EnsureStarted();
  if (MALLOW_UNLIKELY(p != nullptr && !heap::Owns(p))) return ReallocForeign(p, bytes);
  if (MALLOW_UNLIKELY(bytes > kMaxBytes)) return RecordedFailure<Function::kRealloc>();
  if (record::g_recording) {
    return p != nullptr && bytes == 0 ? RecordedReallocToNothing(p) : RecordedRealloc(p, bytes);
  }
  if (p == nullptr) return OrNoMemory(heap::Allocate(bytes));
  if (bytes == 0) {
    heap::Free(p);
    return nullptr;
  }
  if (heap::ResizeInPlace(p, bytes)) return p;
  return OrNoMemory(Move(p, bytes));
}

// The block and the way to its aligned start together are of an object's size.
bool FitsAligned(size_t alignment, size_t bytes) {
  return bytes <= kMaxBytes && alignment <= kMaxBytes - bytes;
}

MALLOW_NOINLINE void* OtherReallocOfNull(size_t bytes) { return OtherRealloc(nullptr, bytes); }

}  // namespace

void* OtherMalloc(size_t bytes) {
  EnsureStarted();
  if (MALLOW_UNLIKELY(bytes > kMaxBytes)) return RecordedFailure<Function::kMalloc>();
  if (record::g_recording)
    return record::g_sampling ? record::AllocateNoSample(bytes, &SampledMalloc) : RecordedMalloc(bytes);
  return OrNoMemory(heap::AllocateSlow(bytes));
}

void OtherFree(void* p) {
  EnsureStarted();
  if (record::g_recording)
    return record::g_sampling ? record::FreeNoSample(p, &SampledFree) : RecordedFree(p);
  if (MALLOW_UNLIKELY(!heap::FreeSlow(p))) FreeForeign(p);
}

void* SlowMalloc(size_t bytes) {
  if (bytes > heap::kMaxSmallBytes) {
    if (void* p = heap::TryAllocateLarge(bytes); MALLOW_LIKELY(p != nullptr)) return p;
  } else if (RecordsEveryCall()) {
    return record::HitAllocate<Function::kMalloc>(bytes, &RecordedMalloc);
  }
  return OtherMalloc(bytes);
}

void* SlowCalloc(size_t count, size_t bytes) {
  size_t total;
  if (RecordsEveryCall() && MALLOW_LIKELY(!__builtin_mul_overflow(count, bytes, &total)) &&
      MALLOW_LIKELY(total <= heap::kMaxSmallBytes))
    return record::HitAllocateZeroed(total, count, &RecordedCalloc);
  return OtherCalloc(count, bytes);
}

void* SlowRealloc(void* p, size_t bytes) {
  if (RecordsEveryCall() && MALLOW_LIKELY(bytes - 1 < heap::kMaxSmallBytes)) {
    return p == nullptr ? record::HitAllocate<Function::kRealloc>(bytes, &OtherReallocOfNull)
                        : record::HitReallocate(p, bytes, &OtherRealloc);
  }
  return OtherRealloc(p, bytes);
}

void SlowFree(void* p) {
  if (heap::TryFreeLarge(p)) return;
  return RecordsEveryCall() ? record::HitRelease(p, &RecordedFree) : OtherFree(p);
}

template <Function function>
void* SlowAligned(size_t alignment, size_t bytes) {
  EnsureStarted();
  if (!FitsAligned(alignment, bytes)) return RecordedFailure<function>();
  if constexpr (function == Function::kPvalloc) bytes = bytes == 0 ? alignment : bytes;
  if (record::g_recording) return RecordedAligned<function>(alignment, bytes);
  if constexpr (function == Function::kPvalloc) bytes = (bytes + alignment - 1) & ~(alignment - 1);
  return OrNoMemory(heap::AllocateAligned(alignment, bytes));
}

template void* SlowAligned<Function::kMemalign>(size_t, size_t);
template void* SlowAligned<Function::kAlignedAlloc>(size_t, size_t);
template void* SlowAligned<Function::kValloc>(size_t, size_t);
template void* SlowAligned<Function::kPvalloc>(size_t, size_t);

int SlowAlignedInto(void** result, size_t alignment, size_t bytes) {
  EnsureStarted();
  if (!FitsAligned(alignment, bytes)) return Into(result, RecordedFailure<Function::kPosixMemalign>());
  if (record::g_recording) return RecordedAlignedInto(result, alignment, bytes);
  return Into(result, heap::AllocateAligned(alignment, bytes));
}

}  // namespace mallow::api
