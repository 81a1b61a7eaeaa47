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

constexpr HitTable kHitTable = {offsetof(internal::EmptyCache, classes), sizeof(internal::ClassesBySize)};

HitTable GetHitTable() { return kHitTable; }

void CopyHitPage(void* copy) {
  memcpy(copy, HitPage(), kHitPageBytes);
  CopyHitTable(static_cast<char*>(copy) + GetHitTable().offset);
}

void CopyHitTable(void* copy) { memcpy(copy, &internal::kSizeClasses.by_size, kHitTable.bytes); }

}  // namespace mallow::heap
