#include "heap/hit_switch.h"

#include <cstring>

#include "heap/size_class.h"
#include "heap/thread_cache.h"
#include "heap/thread_registry.h"

namespace mallow::heap {

static_assert(sizeof(internal::EmptyCache) == kHitPageBytes &&
              alignof(internal::EmptyCache) == kHitPageBytes);

void CloseAllHitPaths() { thread_registry.SetEveryCallSlow(true); }

void OpenAllHitPaths() { thread_registry.SetEveryCallSlow(false); }

void* HitPage() { return &internal::empty_cache; }

HitTable GetHitTable() {
  return {offsetof(internal::EmptyCache, fine_classes), sizeof(internal::EmptyCache::fine_classes)};
}

void CopyHitPage(void* copy) {
  memcpy(copy, HitPage(), kHitPageBytes);
  CopyHitTable(static_cast<char*>(copy) + GetHitTable().offset);
}

void CopyHitTable(void* copy) { memcpy(copy, internal::kSizeClasses.fine, GetHitTable().bytes); }

}  // namespace mallow::heap
