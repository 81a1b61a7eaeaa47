#include "heap/large.h"

#include <string.h>

#include "base/check.h"
#include "heap/damage.h"
#include "heap/page_heap.h"
#include "heap/page_map.h"
#include "heap/reclaim.h"
#include "heap/thread_registry.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

// One that this thread freed a moment ago, or null.
MALLOW_ALWAYS_INLINE Span* TakeKept(Pages pages) {
  ThreadCache* cache = CurrentCache();
  if (MALLOW_UNLIKELY(cache == nullptr)) return nullptr;
  Span* span = cache->large().Take(pages);
  if (MALLOW_UNLIKELY(span == nullptr)) {
    cache->CountFetched(pages * kPageBytes, true);
  } else {
    cache->Visit();
  }
  return span;
}

Span* FromPageHeap(Pages pages, Pages alignment) {
  Span* span = page_heap.AllocateLarge(pages, alignment, PageHeap::Growth::kForbidden);
  if (MALLOW_LIKELY(span != nullptr)) return span;
  // What this thread keeps may become long enough, too.
  if (ThreadCache* const cache = CurrentCache()) cache->large().Flush();
  MakeRoom();
  span = page_heap.AllocateLarge(pages, alignment);
  if (MALLOW_LIKELY(span != nullptr)) return span;
  Reclaim(pages);
  return page_heap.AllocateLarge(pages, alignment, PageHeap::Growth::kInExchange);
}

void* StartOf(const Span* span) { return span == nullptr ? nullptr : span->start(); }

void ClearResident(Span* span) {
  if (span->mapped) {
    if (span->used_before && !os::Release(span->start(), span->pages * kPageBytes))
      memset(span->start(), 0, span->pages * kPageBytes);
    return;
  }
  for (PageId page = span->page; page < span->end();) {
    const Pages run = PageMap::RunLength(page, span->end() - page);
    if (PageMap::StateOf(page) == PageState::kResident) memset(AddressOf(page), 0, run * kPageBytes);
    page += run;
  }
}

}  // namespace

Pages LargePagesFor(size_t bytes) {
  if (bytes > static_cast<size_t>(PTRDIFF_MAX)) return 0;
  return Max<Pages>(1, PagesFor(bytes));
}

void* AllocateLarge(size_t bytes) {
  const Pages pages = LargePagesFor(bytes);
  if (MALLOW_UNLIKELY(pages == 0)) return nullptr;
  Span* span = TakeKept(pages);
  return MALLOW_LIKELY(span != nullptr) ? span->start() : StartOf(FromPageHeap(pages, 1));
}

void* AllocateLargeAligned(size_t bytes, size_t alignment) {
  if (alignment <= kPageBytes) return AllocateLarge(bytes);
  const Pages pages = LargePagesFor(bytes);
  return pages == 0 ? nullptr : StartOf(FromPageHeap(pages, alignment / kPageBytes));
}

void* AllocateLargeZeroed(size_t bytes) {
  const Pages pages = LargePagesFor(bytes);
  if (pages == 0) return nullptr;
  if (Span* span = TakeKept(pages)) return memset(span->start(), 0, pages * kPageBytes);
  Span* span = FromPageHeap(pages, 1);
  if (span == nullptr) return nullptr;
  ClearResident(span);
  return span->start();
}

bool RefuseToFree(void* p) {
  if (PageMap::StateOf(PageOf(p)) == PageState::kForeign) return false;
  const Span* span = PageMap::SpanOf(PageOf(p));
  if (span != nullptr && span->State() == SpanState::kKept && span->start() == p) {
    DieAt("free(): the block was freed twice", p);
  }
  DieOfNoBlock("free()", p);
}

void FreeLarge(Span* span) {
  ThreadCache* cache = CurrentCache();
  // A span whose pages were moved away is of no use to the next malloc.
  if (MALLOW_LIKELY(cache != nullptr && !span->moved_away && cache->large().Keep(span))) return;
  page_heap.Free(span);
  if (cache != nullptr) cache->WatchIdle();
}

bool ResizeLarge(Span* span, size_t bytes) {
  const Pages pages = LargePagesFor(bytes);
  return pages != 0 && page_heap.Resize(span, pages);
}

void* AllocateGrowing(size_t bytes) {
  const Pages pages = LargePagesFor(bytes);
  return pages == 0 ? nullptr : StartOf(page_heap.AllocateGrowing(pages));
}

void* MoveLarge(Span* span, size_t bytes) {
  const Pages pages = LargePagesFor(bytes);
  return pages == 0 ? nullptr : StartOf(page_heap.MoveLarge(span, pages));
}

}  // namespace mallow::heap
