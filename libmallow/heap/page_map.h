// The page map: what each page of the address space is to us.
//
// A radix tree of two levels over 47-bit addresses: 2^17 roots of 1 GiB each. The roots lie in .bss, and the first of
// them that is used beside other variables, so that a heap within one GiB touches none of theirs; a leaf is mapped when
// its GiB is first used and stays. Works under any limit of address space: one leaf is 1 MiB, untouched where unused.
//
// Free's hit path needs the class of a page sooner than two steps of a tree give it. So the class bytes of a *window*,
// the 256 GiB around the first memory of ours, lie in one array as well. Where there is none the hit path finds class 0 and
// free goes the slow way, which asks the tree.
//
// Invariants, per page:
//   state   0 not ours; else ours, and says whether a page that is free may hold memory
//   class   the size class for pages of small spans in which an object may start, 0 for all others; the byte
//           in the window is the same, or 0
//   span    right for the first and last page of every span and for all pages with a class; elsewhere it may be
//           stale, so who looks up an arbitrary address must check what the span says of itself
//
// Synchronisation: written under the page heap's lock. Read without one: the class and span of a page cannot change
// while the caller holds an object in it; for other addresses the answer is a guess that is checked.
#pragma once

#include "base/config.h"
#include "heap/page_window.h"
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

// All that is known of a page in one word, so that a small heap touches one page of these: the class in the lowest byte,
// the state in the next, above them the span.
struct PageMapLeaf {
  uint64_t words[kLeafPages];

  uint8_t* ClassByte(size_t index) { return reinterpret_cast<uint8_t*>(&words[index]); }
  uint8_t* StateByte(size_t index) { return ClassByte(index) + 1; }
  Span* SpanAt(size_t index) const {
    return reinterpret_cast<Span*>(__atomic_load_n(&words[index], __ATOMIC_RELAXED) >> kSpanShift);
  }
  void SetSpanAt(size_t index, Span* span) {
    const uint64_t others = words[index] % (uint64_t{1} << kSpanShift);
    __atomic_store_n(&words[index], reinterpret_cast<uintptr_t>(span) << kSpanShift | others,
                     __ATOMIC_RELAXED);
  }

  static constexpr int kSpanShift = 16;
};
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && kAddressBits + PageMapLeaf::kSpanShift <= 64);

// The leaf of the root that was used first. `root` is written last.
struct FirstLeaf {
  uintptr_t root = UINTPTR_MAX;
  PageMapLeaf* leaf = nullptr;
};
extern MALLOW_INTERNAL FirstLeaf first_leaf;
// Those of the others.
extern MALLOW_INTERNAL PageMapLeaf* page_map_roots[kRoots];

// One byte for each page of 256 GiB.
inline constexpr Pages kWindowPages = 32 * 1024 * 1024;
using ClassWindow = PageWindow<uint8_t, kWindowPages>;
extern MALLOW_INTERNAL ClassWindow class_window;

}  // namespace internal

class PageMap {
 public:
  // Class byte of the page of any address; 0 for foreign ones.
  static SizeClass ClassOf(const void* p) {
    internal::PageMapLeaf* leaf = LeafOf(PageOf(p));
    return leaf == nullptr ? 0 : __atomic_load_n(leaf->ClassByte(Index(PageOf(p))), __ATOMIC_RELAXED);
  }

  // The same in fewer instructions, or 0: ask ClassOf.
  static MALLOW_ALWAYS_INLINE SizeClass ClassInWindow(const void* p) { return internal::class_window.Of(p); }

  // The span entered for the page (see the invariants), or null.
  static Span* SpanOf(PageId page) {
    const internal::PageMapLeaf* leaf = LeafOf(page);
    return leaf == nullptr ? nullptr : leaf->SpanAt(Index(page));
  }

  // Each page that a span was entered for, and the span. Under the page heap's lock.
  template <typename Visit>
  static void ForEachEntry(Visit visit) {
    for (uintptr_t root = LowestRoot(); root <= HighestRoot(); ++root) {
      const internal::PageMapLeaf* const leaf = KnownLeafOf(root);
      for (size_t i = 0; leaf != nullptr && i < internal::kLeafPages; ++i) {
        if (Span* const span = leaf->SpanAt(i); span != nullptr) visit(root << internal::kLeafBits | i, span);
      }
    }
  }

  static PageState StateOf(PageId page) {
    internal::PageMapLeaf* leaf = LeafOf(page);
    return leaf == nullptr
               ? PageState::kForeign
               : static_cast<PageState>(__atomic_load_n(leaf->StateByte(Index(page)), __ATOMIC_RELAXED));
  }

  // Makes the leaves for [page, page + pages) exist. False: no memory; nothing that was there has changed.
  static bool Reserve(PageId page, Pages pages);

  // The following require Reserve.
  static void SetSpan(PageId page, Span* span) { LeafOf(page)->SetSpanAt(Index(page), span); }
  static void SetClass(PageId page, Pages pages, SizeClass size_class);
  static void SetState(PageId page, Pages pages, PageState state);
  // Number of pages in the range that are kResident.
  static Pages CountResident(PageId page, Pages pages);
  // Length of the run of pages from `page` on, at most `pages`, that have the state of the first.
  static Pages RunLength(PageId page, Pages pages);

  // Bytes of addresses that a leaf is for; it starts at a multiple of them.
  static constexpr size_t LeafSpanBytes() { return internal::kLeafPages << kPageShift; }
  // What a leaf is mapped with, once.
  static size_t LeafBytes();
  // Bytes of leaves made so far, and how many of them hold memory at present.
  static size_t MetadataBytes();
  static size_t ResidentBytes();

 private:
  // From the lowest to the highest root that has a leaf.
  static uintptr_t LowestRoot();
  static uintptr_t HighestRoot();
  static internal::PageMapLeaf* MapLeaf(PageId end);
  static void EnterLeaf(uintptr_t root, internal::PageMapLeaf* leaf);
  template <typename F>
  static void ForEachStateByte(PageId page, Pages pages, F f);
  static size_t Index(PageId page) { return page & (internal::kLeafPages - 1); }
  static MALLOW_ALWAYS_INLINE internal::PageMapLeaf* LeafOf(PageId page) {
    const uintptr_t root = page >> internal::kLeafBits;
    if (MALLOW_LIKELY(IsFirst(root))) return FirstLeaf();
    return root < internal::kRoots ? OtherLeafOf(root) : nullptr;
  }
  static MALLOW_ALWAYS_INLINE internal::PageMapLeaf* KnownLeafOf(uintptr_t root) {
    return MALLOW_LIKELY(IsFirst(root)) ? FirstLeaf() : OtherLeafOf(root);
  }
  static bool IsFirst(uintptr_t root) {
    return root == __atomic_load_n(&internal::first_leaf.root, __ATOMIC_ACQUIRE);
  }
  // REQUIRES: IsFirst said so.
  static internal::PageMapLeaf* FirstLeaf() {
    internal::PageMapLeaf* const leaf = __atomic_load_n(&internal::first_leaf.leaf, __ATOMIC_RELAXED);
    if (leaf == nullptr) __builtin_unreachable();
    return leaf;
  }
  static internal::PageMapLeaf* OtherLeafOf(uintptr_t root) {
    return __atomic_load_n(&internal::page_map_roots[root], __ATOMIC_ACQUIRE);
  }
};

}  // namespace mallow::heap
