#include "heap/page_map.h"

#include <string.h>

#include "os/file.h"
#include "os/memory.h"

namespace mallow::heap {
namespace internal {

PageMapLeaf* page_map_roots[kRoots];
ClassWindow class_window;

}  // namespace internal

namespace {

size_t metadata_bytes = 0;
// Roots from the lowest to the highest one that has a leaf; read without a lock.
uintptr_t lowest_root = internal::kRoots;
uintptr_t highest_root = 0;

void NoteRoot(uintptr_t root) {
  __atomic_store_n(&lowest_root, Min(lowest_root, root), __ATOMIC_RELAXED);
  __atomic_store_n(&highest_root, Max(highest_root, root), __ATOMIC_RELAXED);
}

// The part of the window that can be written, in pages from its start.
Pages window_begin = 0;
Pages window_end = 0;

constexpr size_t kHugePageBytes = 2 * 1024 * 1024;

// kResident is the only state with this bit.
constexpr uint64_t kEightResident = 0x0202020202020202u;

// Calls `f(first page, count)` for each part of the range whose bytes of one kind lie in a row.
template <typename F>
void ForEachPart(PageId page, Pages pages, F f) {
  while (pages > 0) {
    const Pages in_row = Min<Pages>(pages, internal::PageBytes::kPages - page % internal::PageBytes::kPages);
    f(page, in_row);
    page += in_row;
    pages -= in_row;
  }
}

}  // namespace

bool PageMap::Reserve(PageId page, Pages pages) {
  const uintptr_t last = (page + pages - 1) >> internal::kLeafBits;
  if (last >= internal::kRoots) return false;
  for (uintptr_t root = page >> internal::kLeafBits; root <= last; ++root) {
    // The first root is written without being read: one page fault, not two.
    if (root >= lowest_root && root <= highest_root && internal::page_map_roots[root] != nullptr) continue;
    void* leaf = os::Map(nullptr, RoundUp(sizeof(internal::PageMapLeaf), os::PageSize()));
    if (leaf == nullptr) return false;
    metadata_bytes += sizeof(internal::PageMapLeaf);
    __atomic_store_n(&internal::page_map_roots[root], static_cast<internal::PageMapLeaf*>(leaf),
                     __ATOMIC_RELEASE);
    NoteRoot(root);
  }
  if (internal::class_window.classes == nullptr) MakeWindow(page);
  OpenWindow(page, pages);
  return true;
}

// A failure costs speed, nothing else.
void PageMap::MakeWindow(PageId page) {
  if (os::AheadOfUse(internal::kWindowPages) < internal::kWindowPages) return;
  void* const classes = os::MapSparse(internal::kWindowPages);
  if (classes == nullptr) return;
  metadata_bytes += internal::kWindowPages;
  // Most of it below `page`: the system goes on downwards, as a rule.
  const PageId first = page - Min(page, internal::kWindowPages / 4 * 3);
  internal::ClassWindow& window = internal::class_window;
  __atomic_store_n(&window.classes, static_cast<uint8_t*>(classes), __ATOMIC_RELAXED);
  __atomic_store_n(&window.offset, 0 - (first << kPageShift), __ATOMIC_RELEASE);
}

// Likewise: where the window cannot be written it stays 0.
void PageMap::OpenWindow(PageId page, Pages pages) {
  const internal::ClassWindow& window = internal::class_window;
  const Pages first = window.PageOf(page << kPageShift);
  if (window.classes == nullptr || first >= internal::kWindowPages) return;
  Pages begin = RoundDown(first, os::PageSize());
  Pages end = Min(RoundUp(first + pages, os::PageSize()), internal::kWindowPages);
  if (begin >= window_begin && end <= window_end) return;
  if (window_end != 0) {
    begin = Min(begin, window_begin);
    end = Max(end, window_end);
  }
  if (!os::AllowWriting(window.classes + begin, end - begin)) return;
  // From here on a huge page fits into it.
  if (end - begin >= kHugePageBytes) os::RefuseHugePages(window.classes, internal::kWindowPages);
  window_begin = begin;
  window_end = end;
}

void PageMap::SetClass(PageId page, Pages pages, SizeClass size_class) {
  // One byte at a time and atomically: other threads read the bytes of neighbouring pages.
  const internal::ClassWindow& window = internal::class_window;
  const uint8_t byte = static_cast<uint8_t>(size_class);
  for (Pages i = 0; i < pages; ++i) {
    __atomic_store_n(&LeafOf(page + i)->ClassByte(Index(page + i)), byte, __ATOMIC_RELAXED);
    const Pages in_window = window.PageOf((page + i) << kPageShift);
    if (in_window >= window_begin && in_window < window_end) {
      __atomic_store_n(&window.classes[in_window], byte, __ATOMIC_RELAXED);
    }
  }
}

void PageMap::SetState(PageId page, Pages pages, PageState state) {
  ForEachPart(page, pages, [state](PageId part, Pages count) {
    memset(&LeafOf(part)->StateByte(Index(part)), static_cast<int>(state), count);
  });
}

Pages PageMap::CountResident(PageId page, Pages pages) {
  Pages resident = 0;
  ForEachPart(page, pages, [&resident](PageId part, Pages count) {
    const uint8_t* states = &LeafOf(part)->StateByte(Index(part));
    Pages i = 0;
    for (; i + sizeof(uint64_t) <= count; i += sizeof(uint64_t)) {
      uint64_t eight;
      memcpy(&eight, states + i, sizeof(eight));
      resident += static_cast<Pages>(__builtin_popcountll(eight & kEightResident));
    }
    for (; i < count; ++i) resident += states[i] == static_cast<uint8_t>(PageState::kResident);
  });
  return resident;
}

Pages PageMap::RunLength(PageId page, Pages pages) {
  const PageState first = StateOf(page);
  Pages length = 1;
  while (length < pages && StateOf(page + length) == first) ++length;
  return length;
}

size_t PageMap::MetadataBytes() { return metadata_bytes; }

size_t PageMap::ResidentBytes() {
  size_t bytes = os::ResidentBytes(internal::class_window.classes + window_begin, window_end - window_begin);
  const uintptr_t last = __atomic_load_n(&highest_root, __ATOMIC_RELAXED);
  for (uintptr_t root = __atomic_load_n(&lowest_root, __ATOMIC_RELAXED); root <= last; ++root) {
    const internal::PageMapLeaf* leaf = LeafOf(root << internal::kLeafBits);
    if (leaf != nullptr) bytes += os::ResidentBytes(leaf, sizeof(*leaf));
  }
  return bytes;
}

}  // namespace mallow::heap
