// A block in the eyes of a client that sees every call: its side record, its usable bytes and its span, for one
// look at the page map. Inline, because such a client asks at every malloc and at every free.
//
// Thread safety: as heap.h. The result is valid until the block is freed.
#pragma once

#include "base/config.h"
#include "heap/heap.h"
#include "heap/large.h"
#include "heap/page_map.h"
#include "heap/record_map.h"
#include "heap/span.h"
#include "heap/thread_cache.h"

namespace mallow::heap {

struct Block {
  void* record;  // null: it has none
  size_t usable_bytes;
  Span* span;  // null: not the start of a block of ours
};

// `kRecordBytes` is what Configure was given.
template <size_t kRecordBytes>
MALLOW_ALWAYS_INLINE Block Describe(const void* p) {
  Span* span = PageMap::SpanOf(PageOf(p));
  // A stale entry of the page map gives a span that p does not lie in: then there is no such index.
  if (MALLOW_LIKELY(span != nullptr && span->state == SpanState::kSmall)) {
    const int index = span->IndexOf(p);
    if (MALLOW_LIKELY(index >= 0)) {
      // Another thread may just be making them.
      char* const records = __atomic_load_n(&span->records, __ATOMIC_ACQUIRE);
      void* record =
          MALLOW_LIKELY(records != nullptr) ? records + static_cast<size_t>(index) * kRecordBytes : nullptr;
      return {record, span->object_bytes, span};
    }
  }
  span = LargeSpanAt(p);
  if (span == nullptr) return {};
  return {span->records, span->pages * kPageBytes, span};
}

// After Relocate: its pages went to the new block, so that nothing was copied.
inline bool MovedAway(const Block& block) {
  return block.span->state == SpanState::kLarge && block.span->moved_away;
}

struct NewBlock {
  void* record;  // null: it has none
  size_t usable_bytes;
};

// Of a block that the heap has just given out. Few need their span for that.
template <size_t kRecordBytes>
MALLOW_ALWAYS_INLINE NewBlock DescribeNew(const void* p) {
  const RecordedObject object = RecordMap::At<kRecordBytes>(p);
  if (MALLOW_LIKELY(object.size_class != 0)) return {object.record, object.bytes()};
  const Block block = Describe<kRecordBytes>(p);
  return {block.record, block.usable_bytes};
}

// Frees a block of which Describe gave the span.
MALLOW_ALWAYS_INLINE void Free(void* p, const Block& block) {
  if (MALLOW_LIKELY(block.span->state == SpanState::kSmall)) return FreeOfClass(p, block.span->size_class);
  FreeLarge(block.span);
}

}  // namespace mallow::heap
