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

// Of the fine classes and, right behind them in both places, the coarse ones.
constexpr HitTable kHitTable = {
    offsetof(internal::EmptyCache, fine_classes),
    sizeof(internal::EmptyCache::fine_classes) + sizeof(internal::EmptyCache::coarse_classes)};
static_assert(offsetof(internal::EmptyCache, coarse_classes) - offsetof(internal::EmptyCache, fine_classes) ==
              offsetof(internal::SizeClassTable, coarse) - offsetof(internal::SizeClassTable, fine));
static_assert(offsetof(internal::EmptyCache, coarse_classes) ==
              kHitTable.offset + sizeof(internal::EmptyCache::fine_classes));

HitTable GetHitTable() { return kHitTable; }

void CopyHitPage(void* copy) {
  memcpy(copy, HitPage(), kHitPageBytes);
  CopyHitTable(static_cast<char*>(copy) + GetHitTable().offset);
}

void CopyHitTable(void* copy) {
  memcpy(copy,
         reinterpret_cast<const char*>(&internal::kSizeClasses) + offsetof(internal::SizeClassTable, fine),
         kHitTable.bytes);
}

}  // namespace mallow::heap
