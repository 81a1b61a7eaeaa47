// The public functions that are more than a hit path; see heap.h.
#include "heap/heap.h"

#include <string.h>

#include "base/check.h"
#include "heap/damage.h"
#include "heap/hit_switch.h"
#include "heap/large.h"
#include "heap/page_heap.h"
#include "heap/page_map.h"
#include "heap/reclaim.h"
#include "heap/shared_lists.h"
#include "heap/thread_cache.h"
#include "heap/thread_registry.h"

namespace mallow::heap {
namespace {

// The span of a live block: the small one around p, else the large one that starts there.
MALLOW_ALWAYS_INLINE Span* SpanOfBlock(const void* p) {
  Span* span = PageMap::SpanOf(PageOf(p));
  if (MALLOW_LIKELY(span != nullptr && span->state == SpanState::kSmall && span->Contains(p))) return span;
  return LargeSpanAt(p);
}

size_t BytesOf(const Span* span) {
  return span->state == SpanState::kSmall ? span->object_bytes : span->pages * kPageBytes;
}

}  // namespace

void* Allocate(size_t bytes) {
  void* const object = TryAllocate(bytes);
  return MALLOW_LIKELY(object != nullptr) ? object : AllocateSlow(bytes);
}

void Free(void* p) {
  if (MALLOW_LIKELY(TryFree(p)) || FreeSlow(p)) return;
  DieAt("free(): the pointer was not returned by malloc", p);
}

void* AllocateAligned(size_t alignment, size_t bytes) {
  if (alignment <= kMinAlignment) return Allocate(bytes);
  const SizeClass size_class = AlignedSizeClassOf(alignment, bytes);
  return size_class != 0 ? Allocate(Info(size_class).bytes) : AllocateLargeAligned(bytes, alignment);
}

void* AllocateZeroed(size_t bytes) {
  if (bytes > kMaxSmallBytes) return AllocateLargeZeroed(bytes);
  void* const object = Allocate(bytes);
  return object == nullptr ? nullptr : memset(object, 0, bytes);
}

bool Owns(const void* p) { return PageMap::StateOf(PageOf(p)) != PageState::kForeign; }

size_t UsableBytes(const void* p) {
  const Span* span = SpanOfBlock(p);
  if (MALLOW_UNLIKELY(span == nullptr)) DieOfNoBlock("malloc_usable_size()", p);
  return BytesOf(span);
}

size_t BytesOfBlockAt(const void* p) {
  const Span* span = SpanOfBlock(p);
  if (span == nullptr || (span->state == SpanState::kSmall && span->IndexOf(p) < 0)) return 0;
  return BytesOf(span);
}

bool ResizeInPlace(void* p, size_t bytes) {
  Span* span = SpanOfBlock(p);
  if (MALLOW_UNLIKELY(span == nullptr)) DieOfNoBlock("realloc()", p);
  if (span->state == SpanState::kLarge) {
    // An object that an alignment or its growth made large may be shorter than any other large one.
    if (bytes > kMaxSmallBytes || bytes > BytesOf(span)) return ResizeLarge(span, bytes);
    return bytes > BytesOf(span) / 2;
  }
  return FitsInPlace(span->object_bytes, bytes);
}

void* Relocate(void* p, size_t bytes) {
  Span* span = SpanOfBlock(p);
  const size_t old_bytes = BytesOf(span);
  const bool grows = bytes > old_bytes && bytes >= kLeastGrowing;
  if (grows && span->state == SpanState::kLarge) {
    if (void* moved = MoveLarge(span, bytes)) return moved;
  }
  void* to = grows ? AllocateGrowing(bytes) : nullptr;
  if (to == nullptr) to = Allocate(bytes);
  if (MALLOW_LIKELY(to != nullptr)) return memcpy(to, p, Min(old_bytes, bytes));
  if (bytes > old_bytes) return nullptr;
  // A size that is given when it is freed has to fit a large one.
  if (span->state == SpanState::kLarge) ResizeLarge(span, bytes);
  return p;
}

void Configure(size_t record_bytes, bool every_call_slow) {
  page_heap.SetRecordBytes(record_bytes);
  if (every_call_slow) CloseAllHitPaths();
}

void RecordFromNowOn(size_t record_bytes) { page_heap.RecordFromNowOn(record_bytes); }

void* MakeRecord(const void* p) {
  Span* span = SpanOfBlock(p);
  if (span == nullptr || !page_heap.MakeRecords(span)) return nullptr;
  const int index = span->state == SpanState::kSmall ? span->IndexOf(p) : 0;
  return index < 0 ? nullptr : span->records + static_cast<size_t>(index) * page_heap.record_bytes();
}

void ClearRecords() { page_heap.ClearRecords(); }

void SeeThreadsEnd() { thread_registry.SeeThreadsEnd(); }

void GiveCacheBack() { Reclaim(0); }

bool Trim(size_t keep_bytes) {
  GiveCacheBack();
  bool some = thread_registry.ReleaseAllSpares();
  for (SizeClass c = 1; c < kClassCount; ++c) some |= shared_lists[c].central.GiveBackAll();
  return page_heap.ReleaseDownTo(keep_bytes / kPageBytes) || some;
}

void SetReleasePolicy(const ReleasePolicy& policy) {
  page_heap.SetReleasePolicy(policy);
  ThreadCache* const cache = thread_words.cache;
  if (reinterpret_cast<uintptr_t>(cache) <= 1) return;
  cache->large().Flush();
  cache->large().SetMost(thread_registry.LargePagesPerThread());
}

ReleasePolicy GetReleasePolicy() { return page_heap.release_policy(); }

}  // namespace mallow::heap
