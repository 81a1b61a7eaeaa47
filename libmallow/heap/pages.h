// Pages of the heap: 8 KiB, whatever the system's pages are.
#pragma once

#include "base/bits.h"
#include "base/config.h"

namespace mallow::heap {

inline constexpr int kPageShift = 13;
inline constexpr size_t kPageBytes = size_t{1} << kPageShift;

// A number of pages, and the number of one page (its address / 8 KiB).
using Pages = size_t;
using PageId = uintptr_t;

constexpr Pages PagesFor(size_t bytes) { return DivideUp(bytes, kPageBytes); }
inline PageId PageOf(const void* p) { return reinterpret_cast<uintptr_t>(p) >> kPageShift; }
inline char* AddressOf(PageId page) { return reinterpret_cast<char*>(page << kPageShift); }

}  // namespace mallow::heap
