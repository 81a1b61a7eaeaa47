// The hit paths, as the exported functions use them.
#pragma once

#include <cstddef>

#include "api/slow.h"
#include "heap/thread_cache.h"

namespace mallow::api {

// A block from the thread cache, or null: go the slow way. Never 0-filled.
MALLOW_ALWAYS_INLINE void* HitAllocate(size_t bytes) { return heap::TryAllocate(bytes); }

// All of free, by whatever name. Not by the size that a sized delete is given, though that would save the page map's
// look-up: programs that give a wrong one run well on glibc, and would damage the heap here.
MALLOW_ALWAYS_INLINE void FreeBlock(void* p) {
  if (MALLOW_LIKELY(heap::TryFree(p))) return;
  SlowFree(p);
}

// A sized delete: the size is looked at where the block is no small one, off the hit path.
MALLOW_ALWAYS_INLINE void FreeSizedBlock(void* p, size_t bytes) {
  if (MALLOW_LIKELY(heap::TryFree(p))) return;
  SlowFreeSized(p, bytes);
}

}  // namespace mallow::api
