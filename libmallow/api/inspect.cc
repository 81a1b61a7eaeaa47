// What the heap says about itself through malloc.h.
#include <malloc.h>
#include <pthread.h>

#include <cerrno>
#include <climits>
#include <cstdio>

#include "api/export.h"
#include "api/slow.h"
#include "api/startup.h"
#include "base/check.h"
#include "base/text.h"
#include "heap/heap.h"
#include "heap/page_heap.h"
#include "heap/release.h"
#include "heap/statistics.h"
#include "heap/thread_cache.h"

using mallow::TextBuffer;
using mallow::TextWriter;
using mallow::api::EnsureStarted;
using mallow::heap::ClassStatistics;
using mallow::heap::GetStatistics;
using mallow::heap::Info;
using mallow::heap::kClassCount;
using mallow::heap::SizeClass;
using mallow::heap::Statistics;

namespace {

// The int of the old struct mallinfo holds what it can.
int Narrow(size_t value) { return value > INT_MAX ? INT_MAX : static_cast<int>(value); }

void AppendLine(TextWriter& text, const char* name, uint64_t value) {
  text.Append(name).AppendDecimal(value).Append("\n");
}

// One element of malloc_info.
class Element {
 public:
  explicit Element(const char* name) { text_.Append("<").Append(name); }
  Element& Is(const char* name, const char* value) {
    text_.Append(" ").Append(name).Append("=\"").Append(value).Append("\"");
    return *this;
  }
  Element& Is(const char* name, uint64_t value) {
    text_.Append(" ").Append(name).Append("=\"").AppendDecimal(value).Append("\"");
    return *this;
  }
  void WriteTo(FILE* stream) {
    text_.Append("/>\n");
    MALLOW_CHECK(!text_.truncated());
    fputs(text_.data(), stream);
  }

 private:
  TextBuffer text_;
};

// What is free, by size, as in glibc's: `total` bytes in `count` blocks. Behind it what glibc does not say. The
// totals below are the sums of these lines.
void WriteSizes(FILE* stream, const Statistics& heap) {
  for (SizeClass c = 1; c < kClassCount; ++c) {
    const ClassStatistics& blocks = heap.classes[c];
    if (blocks.spans == 0) continue;
    Element element("size");
    element.Is("from", Info(c - 1).bytes + 1).Is("to", Info(c).bytes);
    element.Is("total", blocks.free() * Info(c).bytes).Is("count", blocks.free());
    element.Is("thread", blocks.in_thread_caches).Is("transfer", blocks.in_transfer_cache);
    element.Is("central", blocks.in_central_list).Is("in_use", blocks.in_use).Is("spans", blocks.spans);
    element.WriteTo(stream);
  }
  Element("large").Is("total", heap.kept_large_bytes).Is("count", heap.kept_large_blocks).WriteTo(stream);
  Element pages("pages");
  pages.Is("total", heap.page_heap_bytes).Is("count", heap.free_spans).Is("returned", heap.returned_bytes);
  pages.WriteTo(stream);
}

// The totals of one heap, and of all of them, which is the same here. "fast" is what waits in the caches of
// threads, "rest" what waits elsewhere, "mmap" the large blocks in use.
void WriteTotals(FILE* stream, const Statistics& heap) {
  uint64_t fast = heap.kept_large_blocks;
  uint64_t rest = heap.free_spans;
  for (const ClassStatistics& blocks : heap.classes) {
    fast += blocks.in_thread_caches;
    rest += blocks.in_transfer_cache + blocks.in_central_list;
  }
  const auto total = [stream](const char* type, uint64_t count, uint64_t size) {
    Element("total").Is("type", type).Is("count", count).Is("size", size).WriteTo(stream);
  };
  const auto space = [stream](const char* name, const char* type, uint64_t size) {
    Element(name).Is("type", type).Is("size", size).WriteTo(stream);
  };
  total("fast", fast, heap.thread_cache_bytes);
  total("rest", rest, heap.free_bytes() - heap.thread_cache_bytes);
  total("mmap", heap.large_blocks, heap.large_bytes);
  space("system", "current", heap.system_bytes - heap.returned_bytes);
  space("system", "max", heap.most_system_bytes);
  space("aspace", "total", heap.system_bytes);
  space("aspace", "mprotect", heap.system_bytes);
}

// M_TRIM_THRESHOLD: the free memory that stays with the process, in glibc at the top of its heap; negative: all of it.
void KeepFree(int bytes) {
  mallow::heap::ReleasePolicy policy = mallow::heap::GetReleasePolicy();
  policy.keep = bytes < 0 ? SIZE_MAX : static_cast<size_t>(bytes);
  mallow::heap::SetReleasePolicy(policy);
}

}  // namespace

extern "C" {

MALLOW_EXPORT size_t malloc_usable_size(void* p) {
  if (const size_t bytes = mallow::heap::SmallBytes(p)) return bytes;
  EnsureStarted();
  if (MALLOW_LIKELY(mallow::heap::Owns(p))) return mallow::heap::UsableBytes(p);
  return p == nullptr ? 0 : mallow::api::UsableBytesOfForeign(p);
}

MALLOW_EXPORT int malloc_trim(size_t keep_bytes) {
  EnsureStarted();
  return mallow::heap::Trim(keep_bytes) ? 1 : 0;
}

// glibc's parameters steer glibc's heap: they are accepted, and refused for the values that glibc refuses. One has a
// meaning here as well.
MALLOW_EXPORT int mallopt(int parameter, int value) {
  constexpr int kLargestFast = 80 * sizeof(size_t) / 4;
  EnsureStarted();
  if (parameter == M_MXFAST) return value >= 0 && value <= kLargestFast;
  if (parameter == M_TRIM_THRESHOLD) KeepFree(value);
  return 1;
}

// As in glibc, large blocks count apart: arena = uordblks + fordblks, and the blocks in use are uordblks + hblkhd. The
// ends of spans, too short for a block, belong to uordblks: nobody can have them.
MALLOW_EXPORT struct mallinfo2 mallinfo2() {
  EnsureStarted();
  const Statistics heap = GetStatistics();
  struct mallinfo2 info = {};
  info.arena = heap.system_bytes - heap.large_bytes;
  info.hblks = heap.large_blocks;
  info.hblkhd = heap.large_bytes;
  info.fordblks = heap.free_bytes();
  info.uordblks = info.arena > info.fordblks ? info.arena - info.fordblks : 0;
  info.fsmblks = heap.thread_cache_bytes;
  info.smblks = heap.kept_large_blocks;
  info.ordblks = heap.kept_large_blocks + heap.free_spans;
  for (const ClassStatistics& blocks : heap.classes) {
    info.smblks += blocks.in_thread_caches;
    info.ordblks += blocks.free();
  }
  // What malloc_trim(0) can give back at once.
  info.keepcost = heap.page_heap_bytes - heap.returned_bytes;
  return info;
}

MALLOW_EXPORT struct mallinfo mallinfo() {
  const struct mallinfo2 wide = mallinfo2();
  struct mallinfo info = {};
  info.arena = Narrow(wide.arena);
  info.ordblks = Narrow(wide.ordblks);
  info.smblks = Narrow(wide.smblks);
  info.hblks = Narrow(wide.hblks);
  info.hblkhd = Narrow(wide.hblkhd);
  info.fsmblks = Narrow(wide.fsmblks);
  info.uordblks = Narrow(wide.uordblks);
  info.fordblks = Narrow(wide.fordblks);
  info.keepcost = Narrow(wide.keepcost);
  return info;
}

// To stderr, not to be cancelled, as glibc's. System bytes are in use, free or tails of spans.
MALLOW_EXPORT void malloc_stats() {
  EnsureStarted();
  const Statistics heap = GetStatistics();
  char storage[1024];
  TextWriter text(storage, sizeof(storage));
  text.Append("mallow:\n");
  AppendLine(text, "system bytes     = ", heap.system_bytes);
  AppendLine(text, "in use bytes     = ", heap.in_use_bytes);
  AppendLine(text, "free bytes       = ", heap.free_bytes());
  AppendLine(text, "  thread caches  = ", heap.thread_cache_bytes);
  AppendLine(text, "  transfer cache = ", heap.transfer_cache_bytes);
  AppendLine(text, "  central lists  = ", heap.central_list_bytes);
  AppendLine(text, "  page heap      = ", heap.page_heap_bytes);
  AppendLine(text, "span tail bytes  = ", heap.tail_bytes);
  AppendLine(text, "returned bytes   = ", heap.returned_bytes);
  AppendLine(text, "metadata bytes   = ", heap.metadata_bytes);
  AppendLine(text, "  resident       = ", mallow::heap::page_heap.MetadataResidentBytes());
  AppendLine(text, "in use blocks    = ", heap.in_use_blocks);
  AppendLine(text, "large blocks     = ", heap.large_blocks);
  AppendLine(text, "large bytes      = ", heap.large_bytes);
  AppendLine(text, "thread caches    = ", heap.thread_caches);
  AppendLine(text, "max mmap regions = ", heap.map_calls);
  AppendLine(text, "max mmap bytes   = ", heap.most_system_bytes);
  MALLOW_CHECK(!text.truncated());
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
  fputs("<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n", stream);
  WriteSizes(stream, heap);
  fputs("</sizes>\n", stream);
  WriteTotals(stream, heap);
  fputs("</heap>\n", stream);
  WriteTotals(stream, heap);
  fputs("</malloc>\n", stream);
  return 0;
}

MALLOW_ALIAS(mallinfo) struct mallinfo __libc_mallinfo();
MALLOW_ALIAS(mallopt) int __libc_mallopt(int, int);
MALLOW_ALIAS(malloc_usable_size) size_t tc_malloc_size(void*);
MALLOW_ALIAS(malloc_stats) void tc_malloc_stats();
MALLOW_ALIAS(mallopt) int tc_mallopt(int, int);
MALLOW_ALIAS(mallinfo) struct mallinfo tc_mallinfo();
MALLOW_ALIAS(mallinfo2) struct mallinfo2 tc_mallinfo2();

}  // extern "C"
