#include "heap/page_map.h"

#include "os/memory.h"

namespace mallow::heap {
namespace internal {

FirstLeaf first_leaf;
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

}  // namespace

template <typename F>
void PageMap::ForEachStateByte(PageId page, Pages pages, F f) {
  while (pages > 0) {
    internal::PageMapLeaf* const leaf = LeafOf(page);
    const size_t first = Index(page);
    const Pages in_leaf = Min<Pages>(pages, internal::kLeafPages - first);
    for (size_t i = first; i < first + in_leaf; ++i) f(leaf->StateByte(i));
    page += in_leaf;
    pages -= in_leaf;
  }
}

uintptr_t PageMap::LowestRoot() { return __atomic_load_n(&lowest_root, __ATOMIC_RELAXED); }
uintptr_t PageMap::HighestRoot() { return __atomic_load_n(&highest_root, __ATOMIC_RELAXED); }

bool PageMap::Reserve(PageId page, Pages pages) {
  const uintptr_t last = (page + pages - 1) >> internal::kLeafBits;
  if (last >= internal::kRoots) return false;
  for (uintptr_t root = page >> internal::kLeafBits; root <= last; ++root) {
    // A root that was never used is written without being read: one page fault, not two.
    if (root >= lowest_root && root <= highest_root && KnownLeafOf(root) != nullptr) continue;
    internal::PageMapLeaf* const leaf = MapLeaf(page + pages);
    if (leaf == nullptr) return false;
    metadata_bytes += sizeof(*leaf);
    EnterLeaf(root, leaf);
    NoteRoot(root);
  }
  internal::class_window.Open(page, pages);
  return true;
}

size_t PageMap::LeafBytes() {
  return RoundUp(sizeof(internal::PageMapLeaf), os::PageSize()) + os::PageSize();
}

// The words of the pages up to `end` fill a page of the system: the next memory, as a rule below, has its words there too.
internal::PageMapLeaf* PageMap::MapLeaf(PageId end) {
  const size_t unit = os::PageSize();
  char* const start = static_cast<char*>(os::Map(nullptr, LeafBytes()));
  if (start == nullptr) return nullptr;
  const size_t before = (Index(end) + 1) * sizeof(uint64_t);
  return reinterpret_cast<internal::PageMapLeaf*>(start + RoundUp(before, unit) - before);
}

void PageMap::EnterLeaf(uintptr_t root, internal::PageMapLeaf* leaf) {
  internal::FirstLeaf& first = internal::first_leaf;
  if (first.leaf != nullptr) return __atomic_store_n(&internal::page_map_roots[root], leaf, __ATOMIC_RELEASE);
  __atomic_store_n(&first.leaf, leaf, __ATOMIC_RELAXED);
  __atomic_store_n(&first.root, root, __ATOMIC_RELEASE);
}

// Bytes are written one at a time and atomically: other threads read those of the same pages and of their neighbours.
void PageMap::SetClass(PageId page, Pages pages, SizeClass size_class) {
  const uint8_t byte = static_cast<uint8_t>(size_class);
  for (Pages i = 0; i < pages; ++i) {
    __atomic_store_n(LeafOf(page + i)->ClassByte(Index(page + i)), byte, __ATOMIC_RELAXED);
    internal::class_window.Set(page + i, byte);
  }
}

void PageMap::SetState(PageId page, Pages pages, PageState state) {
  ForEachStateByte(page, pages, [state](uint8_t* byte) {
    __atomic_store_n(byte, static_cast<uint8_t>(state), __ATOMIC_RELAXED);
  });
}

Pages PageMap::CountResident(PageId page, Pages pages) {
  Pages resident = 0;
  ForEachStateByte(page, pages, [&resident](const uint8_t* byte) {
    resident += *byte == static_cast<uint8_t>(PageState::kResident);
  });
  return resident;
}

Pages PageMap::RunLength(PageId page, Pages pages) {
  const PageState first = StateOf(page);
  Pages length = 1;
  while (length < pages && StateOf(page + length) == first) ++length;
  return length;
}

size_t PageMap::MetadataBytes() { return metadata_bytes + internal::class_window.MetadataBytes(); }

size_t PageMap::ResidentBytes() {
  size_t bytes = internal::class_window.ResidentBytes();
  for (uintptr_t root = LowestRoot(), last = HighestRoot(); root <= last; ++root) {
    const internal::PageMapLeaf* leaf = LeafOf(root << internal::kLeafBits);
    if (leaf == nullptr) continue;
    const uintptr_t start = reinterpret_cast<uintptr_t>(leaf);
    const uintptr_t first_page = RoundDown(start, os::PageSize());
    bytes += os::ResidentBytes(reinterpret_cast<void*>(first_page), start + sizeof(*leaf) - first_page);
  }
  return bytes;
}

}  // namespace mallow::heap
