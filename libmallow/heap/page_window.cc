#include "heap/page_window.h"

#include "base/bits.h"
#include "heap/page_map.h"
#include "heap/record_map.h"
#include "os/file.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

constexpr size_t kHugePageBytes = 2 * 1024 * 1024;

}  // namespace

template <typename Item, Pages kPageCount>
void PageWindow<Item, kPageCount>::Make(PageId page, Pages pages) {
  if (os::AheadOfUse(kBytes) < kBytes) return;
  void* const items = os::MapSparse(kBytes);
  if (items == nullptr) return;
  // Most of it below: the system goes on downwards, as a rule. What comes next shares a page of the window.
  const PageId first = page + pages - Min(page + pages, kPageCount / 4 * 3);
  __atomic_store_n(&items_, static_cast<Item*>(items), __ATOMIC_RELAXED);
  __atomic_store_n(&offset_, 0 - (first << kPageShift), __ATOMIC_RELEASE);
}

template <typename Item, Pages kPageCount>
void PageWindow<Item, kPageCount>::Open(PageId page, Pages pages) {
  if (items_ == nullptr) Make(page, pages);
  const Pages first = IndexOf(page << kPageShift);
  if (items_ == nullptr || first >= kPageCount) return;
  const Pages unit = os::PageSize() / sizeof(Item);
  Pages begin = RoundDown(first, unit);
  Pages end = Min(RoundUp(first + pages, unit), kPageCount);
  if (begin >= begin_ && end <= end_) return;
  if (end_ != 0) {
    begin = Min(begin, begin_);
    end = Max(end, end_);
  }
  const size_t bytes = (end - begin) * sizeof(Item);
  if (!os::AllowWriting(items_ + begin, bytes)) return;
  // From here on a huge page fits into it.
  if (bytes >= kHugePageBytes && (end_ - begin_) * sizeof(Item) < kHugePageBytes) {
    os::RefuseHugePages(items_, kBytes);
  }
  begin_ = begin;
  end_ = end;
}

template <typename Item, Pages kPageCount>
size_t PageWindow<Item, kPageCount>::ResidentBytes() const {
  return os::ResidentBytes(items_ + begin_, (end_ - begin_) * sizeof(Item));
}

template class PageWindow<uint8_t, internal::kWindowPages>;
template class PageWindow<uint64_t, internal::kRecordWindowPages>;

}  // namespace mallow::heap
