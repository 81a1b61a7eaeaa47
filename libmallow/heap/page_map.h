// The page map: what each page of the address space is to us.
//
// A radix tree of two levels over 48-bit addresses: 2^18 roots of 1 GiB each. The root lies in .bss and is touched
// where needed; a leaf is mapped when its GiB is first used and stays. A root word is the *distance* from
// an always empty leaf to the leaf, so that an address that was never ours needs no test for null: it reads 0 there.
// Works under any limit of address space: one leaf is 1.25 MiB, untouched where unused.
//
// Invariants, per page:
//   state   0 not ours; else ours, and says whether a page that is free may hold memory
//   class   the size class for pages of small spans in which an object may start, 0 for all others
//   span    right for the first and last page of every span and for all pages with a class; elsewhere it may be
//           stale, so who looks up an arbitrary address must check what the span says of itself
//
// Synchronisation: written under the page heap's lock. Read without one: the class and span of a page cannot change
// while the caller holds an object in it; for other addresses the answer is a guess that is checked.
#pragma once

#include "base/config.h"
#include "heap/pages.h"
#include "heap/size_class.h"

namespace mallow::heap {

struct Span;

enum class PageState : uint8_t {
  kForeign = 0,
  kClean = 1,     // reads as zero and takes no memory, if free
  kResident = 2,  // may hold memory, if free
};

namespace internal {

inline constexpr int kLeafBits = 17;
inline constexpr size_t kLeafPages = size_t{1} << kLeafBits;
inline constexpr int kRootShift = kPageShift + kLeafBits;
inline constexpr size_t kRoots = size_t{1} << (kAddressBits - kRootShift);

struct PageMapLeaf {
  uint8_t classes[kLeafPages];
  uint8_t states[kLeafPages];
  Span* spans[kLeafPages];
};

extern MALLOW_INTERNAL uint8_t empty_leaf[kLeafPages];
extern MALLOW_INTERNAL intptr_t page_map_roots[kRoots];

}  // namespace internal

class PageMap {
 public:
  // Class byte of the page of any address; 0 for foreign ones.
  static MALLOW_ALWAYS_INLINE SizeClass ClassOf(const void* p) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(p);
    const uintptr_t root = address >> internal::kRootShift;
    if (MALLOW_UNLIKELY(root >= internal::kRoots)) return 0;
    const intptr_t distance = __atomic_load_n(&internal::page_map_roots[root], __ATOMIC_RELAXED);
    const uint8_t* classes =
        reinterpret_cast<const uint8_t*>(reinterpret_cast<intptr_t>(internal::empty_leaf) + distance);
    return __atomic_load_n(&classes[(address >> kPageShift) & (internal::kLeafPages - 1)], __ATOMIC_RELAXED);
  }

  // The span entered for the page (see the invariants), or null.
  static Span* SpanOf(PageId page) {
    const internal::PageMapLeaf* leaf = LeafOf(page);
    return leaf == nullptr ? nullptr : __atomic_load_n(&leaf->spans[Index(page)], __ATOMIC_RELAXED);
  }

  static PageState StateOf(PageId page) {
    const internal::PageMapLeaf* leaf = LeafOf(page);
    return leaf == nullptr
               ? PageState::kForeign
               : static_cast<PageState>(__atomic_load_n(&leaf->states[Index(page)], __ATOMIC_RELAXED));
  }

  // Makes the leaves for [page, page + pages) exist. False: no memory; nothing that was there has changed.
  static bool Reserve(PageId page, Pages pages);

  // The following require Reserve.
  static void SetSpan(PageId page, Span* span) {
    __atomic_store_n(&LeafOf(page)->spans[Index(page)], span, __ATOMIC_RELAXED);
  }
  static void SetClass(PageId page, Pages pages, SizeClass size_class);
  static void SetState(PageId page, Pages pages, PageState state);
  // Number of pages in the range that are kResident.
  static Pages CountResident(PageId page, Pages pages);
  // Length of the run of pages from `page` on, at most `pages`, that have the state of the first.
  static Pages RunLength(PageId page, Pages pages);

  // Bytes of leaves made so far, and how many of them hold memory at present.
  static size_t MetadataBytes();
  static size_t ResidentBytes();

 private:
  static size_t Index(PageId page) { return page & (internal::kLeafPages - 1); }
  static internal::PageMapLeaf* LeafOf(PageId page) {
    const uintptr_t root = page >> internal::kLeafBits;
    if (root >= internal::kRoots) return nullptr;
    const intptr_t distance = __atomic_load_n(&internal::page_map_roots[root], __ATOMIC_ACQUIRE);
    if (distance == 0) return nullptr;
    return reinterpret_cast<internal::PageMapLeaf*>(reinterpret_cast<intptr_t>(internal::empty_leaf) +
                                                    distance);
  }
};

}  // namespace mallow::heap
