#include "heap/central_list.h"
#include "heap/heap.h"
#include "heap/page_heap.h"
#include "heap/thread_registry.h"
#include "heap/transfer_cache.h"
#include "os/memory.h"

namespace mallow::heap {

Statistics GetStatistics() {
  const PageHeap::Totals totals = page_heap.GetTotals();
  Statistics result = {};
  result.system_bytes = totals.system * kPageBytes;
  result.returned_bytes = totals.returned * kPageBytes;
  result.page_heap_free_bytes = totals.free * kPageBytes;
  for (SizeClass c = 1; c < kClassCount; ++c) {
    result.central_free_bytes +=
        (central_lists[c].free_objects() + transfer_caches[c].count()) * Info(c).bytes;
  }
  result.thread_free_bytes = thread_registry.EstimateBytes();
  const uint64_t free_bytes =
      result.page_heap_free_bytes + result.central_free_bytes + result.thread_free_bytes;
  // The parts were read one after the other, so their sum may have overtaken the whole.
  result.in_use_bytes = result.system_bytes > free_bytes ? result.system_bytes - free_bytes : 0;
  result.metadata_bytes = totals.metadata_bytes;
  result.large_count = totals.large_count;
  result.large_bytes = totals.large * kPageBytes;
  result.mmap_calls = os::MapCalls();
  return result;
}

}  // namespace mallow::heap
