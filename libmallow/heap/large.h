// Large objects: whole pages, one object per span.
//
// Few of them stay with the thread that freed them, so that a loop that allocates and frees one takes no lock;
// the rest lives in the page heap. Thread safety: as heap.h.
#pragma once

#include "base/config.h"
#include "heap/page_map.h"
#include "heap/span.h"

namespace mallow::heap {

// Pages of this many bytes, or 0 when no address space could hold them (more than PTRDIFF_MAX).
Pages LargePagesFor(size_t bytes);

// A page-aligned object. Null: no memory.
void* AllocateLarge(size_t bytes);
// The same, aligned to `alignment` if that is more than a page.
void* AllocateLargeAligned(size_t bytes, size_t alignment);
// The same with all bytes zero.
void* AllocateLargeZeroed(size_t bytes);
// `span` is a live large one.
void FreeLarge(Span* span);
// Frees nothing, because p is neither in a small span nor the start of a live large object: false when it is
// foreign, else the process ends.
bool RefuseToFree(void* p);
bool ResizeLarge(Span* span, size_t bytes);
// For a block that grows, see Relocate. MoveLarge returns null also when copying is better.
void* AllocateGrowing(size_t bytes);
void* MoveLarge(Span* span, size_t bytes);

// The live large span that starts at p, or null.
MALLOW_ALWAYS_INLINE Span* LargeSpanAt(const void* p) {
  Span* span = PageMap::SpanOf(PageOf(p));
  if (span == nullptr || span->State() != SpanState::kLarge || span->start() != p) return nullptr;
  return span;
}

}  // namespace mallow::heap
