// TCMalloc's extension interface for C.
#include "mallow/tc_extension.h"

#include <climits>
#include <cstring>

#include "api/call.h"
#include "api/export.h"
#include "api/startup.h"
#include "base/bits.h"
#include "base/config.h"
#include "base/text.h"
#include "heap/heap.h"
#include "heap/large.h"
#include "heap/page_heap.h"
#include "heap/size_class.h"
#include "heap/statistics.h"
#include "mallow/tc.h"

using mallow::Log2Floor;
using mallow::Min;
using mallow::api::EnsureStarted;
using mallow::api::kMaxBytes;
using mallow::heap::GetStatistics;
using mallow::heap::Info;
using mallow::heap::kClassCount;
using mallow::heap::SizeClass;
using mallow::heap::Statistics;

namespace {

Statistics Heap() {
  EnsureStarted();
  return GetStatistics();
}

struct Property {
  const char* name;
  uint64_t (*value)(const Statistics&);
};

constexpr Property kProperties[] = {
    {"generic.current_allocated_bytes", [](const Statistics& heap) { return heap.in_use_bytes; }},
    {"generic.heap_size", [](const Statistics& heap) { return heap.system_bytes; }},
    {"generic.total_physical_bytes",
     [](const Statistics& heap) {
       return heap.system_bytes - heap.returned_bytes + mallow::heap::page_heap.MetadataResidentBytes();
     }},
    {"tcmalloc.slack_bytes", [](const Statistics& heap) { return heap.page_heap_bytes; }},
    {"tcmalloc.pageheap_free_bytes",
     [](const Statistics& heap) { return heap.page_heap_bytes - heap.returned_bytes; }},
    {"tcmalloc.pageheap_unmapped_bytes", [](const Statistics& heap) { return heap.returned_bytes; }},
    {"tcmalloc.pageheap_committed_bytes",
     [](const Statistics& heap) { return heap.system_bytes - heap.returned_bytes; }},
    {"tcmalloc.central_cache_free_bytes", [](const Statistics& heap) { return heap.central_list_bytes; }},
    {"tcmalloc.transfer_cache_free_bytes", [](const Statistics& heap) { return heap.transfer_cache_bytes; }},
    {"tcmalloc.thread_cache_free_bytes", [](const Statistics& heap) { return heap.thread_cache_bytes; }},
    {"tcmalloc.current_total_thread_cache_bytes",
     [](const Statistics& heap) { return heap.thread_cache_bytes; }},
};

// What a block of so many bytes can hold, 0 when there is none.
size_t BlockBytes(size_t alignment, size_t bytes) {
  namespace heap = mallow::heap;
  if (bytes > kMaxBytes || alignment > kMaxBytes - bytes) return 0;
  const SizeClass size_class = heap::AlignedSizeClassOf(alignment, bytes);
  return size_class != 0 ? Info(size_class).bytes : heap::LargePagesFor(bytes) * heap::kPageBytes;
}

int IsBlock(const void* p) { return p == nullptr || mallow::heap::BytesOfBlockAt(p) != 0; }

// Live blocks by the logarithm of the bytes that they hold.
struct Histogram {
  uint64_t blocks[kMallocExtensionHistogramSize] = {};

  explicit Histogram(const Statistics& heap) {
    for (SizeClass c = 1; c < kClassCount; ++c) blocks[Log2Floor(Info(c).bytes)] += heap.classes[c].in_use;
    // How many bytes each large block has is not kept: they count by the mean.
    if (heap.large_blocks != 0) blocks[Log2Floor(heap.large_bytes / heap.large_blocks)] += heap.large_blocks;
  }
};

int Narrow(uint64_t value) { return static_cast<int>(Min<uint64_t>(value, INT_MAX)); }

}  // namespace

extern "C" {

MALLOW_EXPORT int MallocExtension_VerifyAllMemory(void) { return 1; }
MALLOW_EXPORT int MallocExtension_VerifyNewMemory(const void* p) { return IsBlock(p); }
MALLOW_EXPORT int MallocExtension_VerifyArrayNewMemory(const void* p) { return IsBlock(p); }
MALLOW_EXPORT int MallocExtension_VerifyMallocMemory(const void* p) { return IsBlock(p); }

MALLOW_EXPORT int MallocExtension_MallocMemoryStats(int* blocks, size_t* bytes,
                                                    int histogram[kMallocExtensionHistogramSize]) {
  const Statistics heap = Heap();
  *blocks = Narrow(heap.in_use_blocks);
  *bytes = heap.in_use_bytes;
  const Histogram by_size(heap);
  for (int i = 0; i < kMallocExtensionHistogramSize; ++i) histogram[i] = Narrow(by_size.blocks[i]);
  return 1;
}

MALLOW_EXPORT void MallocExtension_GetStats(char* buffer, int length) {
  if (length <= 0) return;
  const Statistics heap = Heap();
  mallow::TextWriter text(buffer, static_cast<size_t>(length));
  text.Append("mallow: bytes by property\n");
  for (const Property& property : kProperties) {
    text.AppendDecimal(property.value(heap)).Append("  ").Append(property.name).Append("\n");
  }
}

MALLOW_EXPORT int MallocExtension_GetNumericProperty(const char* name, size_t* value) {
  for (const Property& property : kProperties) {
    if (strcmp(name, property.name) != 0) continue;
    *value = property.value(Heap());
    return 1;
  }
  return 0;
}

// All of them are measured, none is set: what a thread keeps follows what it uses.
MALLOW_EXPORT int MallocExtension_SetNumericProperty(const char*, size_t) { return 0; }

MALLOW_EXPORT void MallocExtension_MarkThreadIdle(void) {
  EnsureStarted();
  mallow::heap::GiveCacheBack();
}
MALLOW_ALIAS(MallocExtension_MarkThreadIdle) void MallocExtension_MarkThreadTemporarilyIdle(void);
MALLOW_EXPORT void MallocExtension_MarkThreadBusy(void) {}

MALLOW_EXPORT size_t MallocExtension_GetThreadCacheSize(void) { return Heap().thread_cache_bytes; }

MALLOW_EXPORT void MallocExtension_ReleaseToSystem(size_t bytes) {
  const Statistics heap = Heap();
  const uint64_t resident = heap.page_heap_bytes - heap.returned_bytes;
  mallow::heap::Trim(resident > bytes ? resident - bytes : 0);
}
MALLOW_EXPORT void MallocExtension_ReleaseFreeMemory(void) {
  EnsureStarted();
  mallow::heap::Trim(0);
}

MALLOW_EXPORT size_t MallocExtension_GetEstimatedAllocatedSize(size_t bytes) { return BlockBytes(1, bytes); }

MALLOW_EXPORT size_t tc_nallocx(size_t bytes, int flags) noexcept {
  constexpr int kAlignmentMask = 63;
  return BlockBytes(size_t{1} << (flags & kAlignmentMask), bytes);
}

MALLOW_EXPORT size_t MallocExtension_GetAllocatedSize(const void* p) {
  return mallow::heap::BytesOfBlockAt(p);
}

MALLOW_EXPORT MallocExtension_Ownership MallocExtension_GetOwnership(const void* p) {
  return mallow::heap::Owns(p) ? MallocExtension_kOwned : MallocExtension_kNotOwned;
}

}  // extern "C"
