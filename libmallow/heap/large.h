// Large objects: whole pages, one object per span.
//
// Few of them stay with the thread that freed them, so that a loop that allocates and frees one takes no lock;
// the rest lives in the page heap. Thread safety: as heap.h.
#pragma once

#include "base/config.h"
#include "heap/span.h"

namespace mallow::heap {

// Pages of this many bytes, or 0 when no address space could hold them (more than PTRDIFF_MAX).
Pages LargePagesFor(size_t bytes);

// A page-aligned object, or one aligned to `alignment` if that is more. Null: no memory.
void* AllocateLarge(size_t bytes, size_t alignment);
// The same with all bytes zero.
void* AllocateLargeZeroed(size_t bytes);
// `p` is anything that is not in a small span. Ends the process when it is not a large object.
void FreeLarge(void* p);
bool ResizeLarge(Span* span, size_t bytes);

// The live large span that starts at p, or null.
Span* LargeSpanAt(const void* p);

}  // namespace mallow::heap
