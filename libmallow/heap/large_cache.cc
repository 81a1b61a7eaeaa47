#include "heap/large_cache.h"

namespace mallow::heap {

void LargeCache::GiveBack(bool idle_only) {
  for (size_t i = 0; i < kSlots; ++i) {
    if (pages_[i] == 0) continue;
    if (idle_only && !idle_[i]) {
      idle_[i] = true;
      continue;
    }
    page_heap.Free(TakeSlot(i));
  }
}

void LargeCache::SetMost(Pages most) {
  if (pages() > most) Flush();
  const Pages kept = pages();
  const Pages closed = kMostPages - Min(kMostPages, most);
  __atomic_store_n(&closed_, static_cast<uint32_t>(closed), __ATOMIC_RELAXED);
  __atomic_store_n(&total_, kept + closed, __ATOMIC_RELAXED);
}

size_t LargeCache::count() const {
  size_t count = 0;
  for (const Pages& pages : pages_) count += __atomic_load_n(&pages, __ATOMIC_RELAXED) != 0;
  return count;
}

bool LargeCache::IsValid() const {
  Pages total = 0;
  for (size_t i = 0; i < kSlots; ++i) {
    if (pages_[i] == 0) continue;
    if (spans_[i]->state != SpanState::kKept || spans_[i]->pages != pages_[i]) return false;
    total += pages_[i];
  }
  return total + closed_ == total_ && total <= kMostPages;
}

}  // namespace mallow::heap
