#include "heap/large.h"

#include <string.h>

#include "base/check.h"
#include "heap/page_heap.h"
#include "heap/page_map.h"
#include "heap/thread_registry.h"

namespace mallow::heap {
namespace {

// One that this thread freed a moment ago, or null. Its page states are those of its last birth, so they do not
// tell what the program has written since.
Span* TakeKept(Pages pages) {
  ThreadCache* cache = CurrentCache();
  return cache == nullptr ? nullptr : cache->TakeLarge(pages);
}

void ClearResident(Span* span) {
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

void* AllocateLarge(size_t bytes, size_t alignment) {
  const Pages pages = LargePagesFor(bytes);
  if (pages == 0) return nullptr;
  Span* span = alignment <= kPageBytes ? TakeKept(pages) : nullptr;
  if (span == nullptr) span = page_heap.AllocateLarge(pages, Max<Pages>(1, alignment / kPageBytes));
  return span == nullptr ? nullptr : span->start();
}

void* AllocateLargeZeroed(size_t bytes) {
  const Pages pages = LargePagesFor(bytes);
  if (pages == 0) return nullptr;
  if (Span* span = TakeKept(pages)) return memset(span->start(), 0, pages * kPageBytes);
  Span* span = page_heap.AllocateLarge(pages, 1);
  if (span == nullptr) return nullptr;
  ClearResident(span);
  return span->start();
}

Span* LargeSpanAt(const void* p) {
  if (!IsAligned(p, kPageBytes) || PageMap::StateOf(PageOf(p)) == PageState::kForeign) return nullptr;
  Span* span = PageMap::SpanOf(PageOf(p));
  if (span == nullptr || span->state != SpanState::kLarge || span->page != PageOf(p)) return nullptr;
  return span;
}

void FreeLarge(void* p) {
  Span* span = LargeSpanAt(p);
  if (MALLOW_UNLIKELY(span == nullptr)) {
    if (PageMap::StateOf(PageOf(p)) == PageState::kForeign) {
      DieAt("free(): the pointer was not returned by malloc", p);
    }
    DieAt("free(): the pointer is not the start of a block, or the block was freed before", p);
  }
  ThreadCache* cache = CurrentCache();
  if (cache != nullptr) {
    if (MALLOW_UNLIKELY(cache->HoldsLarge(span))) DieAt("free(): the block was freed twice", p);
    if (cache->KeepLarge(span)) return;
  }
  page_heap.Free(span);
}

bool ResizeLarge(Span* span, size_t bytes) {
  const Pages pages = LargePagesFor(bytes);
  return pages != 0 && bytes > kMaxSmallBytes && page_heap.Resize(span, pages);
}

}  // namespace mallow::heap
