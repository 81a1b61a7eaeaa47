// The hit paths, as the exported functions use them.
#pragma once

#include <cstddef>

#include "api/slow.h"
#include "heap/heap.h"

namespace mallow::api {

inline void* HitAllocate(size_t) { return nullptr; }
inline bool HitFree(void*) { return false; }

MALLOW_ALWAYS_INLINE void FreeBlock(void* p) {
  if (MALLOW_LIKELY(HitFree(p))) return;
  SlowFree(p);
}

}  // namespace mallow::api
