// What the heap says about itself through malloc.h.
#include <malloc.h>
#include <pthread.h>

#include <cerrno>
#include <climits>
#include <cstdio>

#include "api/export.h"
#include "api/startup.h"
#include "base/check.h"
#include "base/text.h"
#include "heap/heap.h"

using mallow::TextWriter;
using mallow::api::EnsureStarted;
using mallow::heap::GetStatistics;
using mallow::heap::Statistics;

namespace {

uint64_t FreeBytes(const Statistics& heap) {
  return heap.page_heap_free_bytes + heap.central_free_bytes + heap.thread_free_bytes;
}

// The int of the old struct mallinfo holds what it can.
int Narrow(size_t value) { return value > INT_MAX ? INT_MAX : static_cast<int>(value); }

void AppendLine(TextWriter& text, const char* name, uint64_t value) {
  text.Append(name).AppendDecimal(value).Append("\n");
}

void AppendElement(TextWriter& text, const char* element, const char* type, uint64_t size) {
  text.Append("<").Append(element).Append(" type=\"").Append(type).Append("\" size=\"");
  text.AppendDecimal(size).Append("\"/>\n");
}

void AppendTotal(TextWriter& text, const char* type, uint64_t count, uint64_t size) {
  text.Append("<total type=\"").Append(type).Append("\" count=\"").AppendDecimal(count);
  text.Append("\" size=\"").AppendDecimal(size).Append("\"/>\n");
}

// The totals of one heap, and of all of them, which is the same here. "fast" is what waits in the caches of
// threads, "rest" what waits elsewhere; counts of free blocks are not kept.
void AppendTotals(TextWriter& text, const Statistics& heap) {
  AppendTotal(text, "fast", 0, heap.thread_free_bytes);
  AppendTotal(text, "rest", 0, heap.central_free_bytes + heap.page_heap_free_bytes);
  AppendTotal(text, "mmap", heap.large_count, heap.large_bytes);
  AppendElement(text, "system", "current", heap.system_bytes - heap.returned_bytes);
  AppendElement(text, "system", "max", heap.system_bytes);
  AppendElement(text, "aspace", "total", heap.system_bytes);
  AppendElement(text, "aspace", "mprotect", heap.system_bytes);
}

}  // namespace

extern "C" {

MALLOW_EXPORT size_t malloc_usable_size(void* p) {
  EnsureStarted();
  return p != nullptr && mallow::heap::Owns(p) ? mallow::heap::UsableBytes(p) : 0;
}

MALLOW_EXPORT int malloc_trim(size_t keep_bytes) {
  EnsureStarted();
  return mallow::heap::Trim(keep_bytes) ? 1 : 0;
}

// glibc's parameters steer glibc's heap: they are accepted, refused for the values that glibc refuses, and
// change nothing here.
MALLOW_EXPORT int mallopt(int parameter, int value) {
  constexpr int kLargestFast = 80 * sizeof(size_t) / 4;
  return parameter != M_MXFAST || (value >= 0 && value <= kLargestFast);
}

MALLOW_EXPORT struct mallinfo2 mallinfo2() {
  EnsureStarted();
  const Statistics heap = GetStatistics();
  struct mallinfo2 info = {};
  info.arena = heap.system_bytes - heap.large_bytes;
  info.hblks = heap.large_count;
  info.hblkhd = heap.large_bytes;
  info.fsmblks = heap.thread_free_bytes;
  info.uordblks = heap.in_use_bytes;
  info.fordblks = FreeBytes(heap);
  info.keepcost = heap.page_heap_free_bytes;
  return info;
}

MALLOW_EXPORT struct mallinfo mallinfo() {
  const struct mallinfo2 wide = mallinfo2();
  struct mallinfo info = {};
  info.arena = Narrow(wide.arena);
  info.hblks = Narrow(wide.hblks);
  info.hblkhd = Narrow(wide.hblkhd);
  info.fsmblks = Narrow(wide.fsmblks);
  info.uordblks = Narrow(wide.uordblks);
  info.fordblks = Narrow(wide.fordblks);
  info.keepcost = Narrow(wide.keepcost);
  return info;
}

// To stderr, not to be cancelled, as glibc's.
MALLOW_EXPORT void malloc_stats() {
  EnsureStarted();
  const Statistics heap = GetStatistics();
  char storage[1024];
  TextWriter text(storage, sizeof(storage));
  text.Append("mallow:\n");
  AppendLine(text, "system bytes     = ", heap.system_bytes);
  AppendLine(text, "in use bytes     = ", heap.in_use_bytes);
  AppendLine(text, "free bytes       = ", FreeBytes(heap));
  AppendLine(text, "returned bytes   = ", heap.returned_bytes);
  AppendLine(text, "metadata bytes   = ", heap.metadata_bytes);
  AppendLine(text, "large blocks     = ", heap.large_count);
  AppendLine(text, "large bytes      = ", heap.large_bytes);
  // Address space is never given back: what is mapped is the most that was.
  AppendLine(text, "max mmap regions = ", heap.mmap_calls);
  AppendLine(text, "max mmap bytes   = ", heap.system_bytes);
  int cancel_state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  fputs(storage, stderr);
  pthread_setcancelstate(cancel_state, nullptr);
}

// XML in the form of glibc's. EINVAL when `options` is not 0.
MALLOW_EXPORT int malloc_info(int options, FILE* stream) {
  if (options != 0) return EINVAL;
  EnsureStarted();
  const Statistics heap = GetStatistics();
  char storage[4096];
  TextWriter text(storage, sizeof(storage));
  text.Append("<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n</sizes>\n");
  AppendTotals(text, heap);
  text.Append("</heap>\n");
  AppendTotals(text, heap);
  text.Append("</malloc>\n");
  MALLOW_CHECK(!text.truncated());
  fputs(storage, stream);
  return 0;
}

MALLOW_ALIAS(mallinfo) struct mallinfo __libc_mallinfo();
MALLOW_ALIAS(mallopt) int __libc_mallopt(int, int);

}  // extern "C"
