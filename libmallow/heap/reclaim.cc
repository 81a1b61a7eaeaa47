#include "heap/reclaim.h"

#include "base/config.h"
#include "heap/hit_switch.h"
#include "heap/page_heap.h"
#include "heap/thread_cache.h"
#include "heap/thread_registry.h"
#include "heap/transfer_cache.h"

namespace mallow::heap {

void EmptySharedCaches() {
  thread_registry.ReleaseWarm();
  for (SizeClass c = 1; c < kClassCount; ++c) transfer_caches[c].ReleaseAll(c);
}

bool Reclaim(Pages pages) {
  if (pages > page_heap.system_pages()) return false;
  ThreadCache* cache = thread_words.cache;
  if (reinterpret_cast<uintptr_t>(cache) > 1) {
    cache->Flush();
    // Nothing is left for which the thread was to come by (idle_watch.h).
    OpenHitPaths(cache);
  }
  EmptySharedCaches();
  return true;
}

}  // namespace mallow::heap
