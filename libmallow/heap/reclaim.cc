#include "heap/reclaim.h"

#include "base/config.h"
#include "heap/hit_switch.h"
#include "heap/page_heap.h"
#include "heap/shared_lists.h"
#include "heap/thread_cache.h"
#include "heap/thread_registry.h"

namespace mallow::heap {

namespace {

// Emptying costs by the bytes; so often that it is as many as the heap grows by, it costs no more than the growth did.
constexpr size_t kLeastRoom = 256 * 1024;
constexpr size_t kShareOfRoom = 8;

}  // namespace

void EmptySharedCaches() {
  thread_registry.ReleaseWarm();
  for (SizeClass c = 1; c < kClassCount; ++c)
    ForTransferCaches(c, [c](TransferCache& cache) { cache.ReleaseAll(c); });
}

bool MakeRoom() {
  const size_t heap = page_heap.system_pages() * kPageBytes;
  if (heap == 0) return false;
  size_t bytes = 0;
  for (SizeClass c = 1; c < kClassCount; ++c) bytes += ObjectsInTransfer(c) * Info(c).bytes;
  if (bytes < Max(kLeastRoom, heap / kShareOfRoom)) return false;
  EmptySharedCaches();
  return true;
}

bool Reclaim(Pages pages) {
  if (pages > page_heap.system_pages()) return false;
  ThreadCache* cache = thread_words.cache;
  if (reinterpret_cast<uintptr_t>(cache) > 1) {
    cache->Flush();
    // Nothing is left for which the thread was to come by (idle_watch.h).
    thread_registry.EndWatch(cache);
  }
  EmptySharedCaches();
  return true;
}

}  // namespace mallow::heap
