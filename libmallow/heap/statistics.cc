#include "heap/statistics.h"

#include "heap/page_heap.h"
#include "heap/shared_lists.h"
#include "heap/thread_registry.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

// The parts are read one after the other, so their sum may have overtaken the whole.
uint64_t Rest(uint64_t whole, uint64_t parts) { return whole > parts ? whole - parts : 0; }

void AddClass(SizeClass size_class, Statistics& total) {
  const SizeClassInfo& info = Info(size_class);
  ClassStatistics& objects = total.classes[size_class];
  objects.in_transfer_cache = ObjectsInTransfer(size_class);
  objects.in_central_list = shared_lists[size_class].central.free_objects();
  objects.in_use = Rest(objects.spans * info.objects, objects.free());
  total.in_use_blocks += objects.in_use;
  total.in_use_bytes += objects.in_use * info.bytes;
  total.thread_cache_bytes += objects.in_thread_caches * info.bytes;
  total.transfer_cache_bytes += objects.in_transfer_cache * info.bytes;
  total.central_list_bytes += objects.in_central_list * info.bytes;
  total.tail_bytes += objects.spans * (info.pages * kPageBytes - info.objects * info.bytes);
}

void AddLarge(const PageHeap::Totals& pages, Statistics& total) {
  total.large_blocks = Rest(pages.large_count, total.kept_large_blocks);
  total.large_bytes = Rest(pages.large * kPageBytes, total.kept_large_bytes);
  total.in_use_blocks += total.large_blocks;
  total.in_use_bytes += total.large_bytes;
  total.thread_cache_bytes += total.kept_large_bytes;
}

}  // namespace

Statistics GetStatistics() {
  Statistics total = {};
  const PageHeap::Totals pages = page_heap.GetTotals();
  for (SizeClass c = 1; c < kClassCount; ++c) total.classes[c].spans = pages.small_spans[c];
  total.system_bytes = pages.system * kPageBytes;
  total.most_system_bytes = pages.most_system * kPageBytes;
  total.page_heap_bytes = pages.free * kPageBytes;
  total.returned_bytes = pages.returned * kPageBytes;
  total.free_spans = pages.free_spans;
  total.metadata_bytes = pages.metadata_bytes;
  thread_registry.AddTo(total);
  for (SizeClass c = 1; c < kClassCount; ++c) AddClass(c, total);
  AddLarge(pages, total);
  total.map_calls = os::MapCalls();
  return total;
}

}  // namespace mallow::heap
