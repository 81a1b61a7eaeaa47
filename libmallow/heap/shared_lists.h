// What all threads share of a size class: side by side, so that a program of few classes touches a page less.
//
// Of transfer caches a class has several, each for the threads of some processors: a block that is used again where it was
// used last is in that processor's cache, while to write to what another one wrote takes some hundred cycles for each of
// its lines. A thread gives to its own and takes from it; where that is empty, from the others, of short objects from the
// central list first. TCMalloc has them by domains of the third-level cache. A program of one thread has only the first.
#pragma once

#include <atomic>

#include "heap/central_list.h"
#include "heap/transfer_cache.h"

namespace mallow::heap {

struct SharedLists {
  CentralList central;
  TransferCache transfer;
};
extern SharedLists shared_lists[kClassCount];

inline constexpr unsigned kTransferCaches = 8;
extern TransferCache further_transfer_caches[kTransferCaches - 1][kClassCount];
// How many of these were ever used, of each class. Grows while the lock of the thread registry is held.
extern std::atomic<unsigned> further_transfer_caches_used;

inline unsigned TransferCachesUsed() {
  return 1 + further_transfer_caches_used.load(std::memory_order_acquire);
}

inline TransferCache& TransferCacheAt(SizeClass size_class, unsigned index) {
  return index == 0 ? shared_lists[size_class].transfer : further_transfer_caches[index - 1][size_class];
}

// All those of a class that were used.
template <typename Do>
void ForTransferCaches(SizeClass size_class, Do with) {
  const unsigned used = TransferCachesUsed();
  for (unsigned index = 0; index < used; ++index) with(TransferCacheAt(size_class, index));
}
inline size_t ObjectsInTransfer(SizeClass size_class) {
  size_t count = 0;
  ForTransferCaches(size_class, [&](TransferCache& cache) { count += cache.count(); });
  return count;
}

}  // namespace mallow::heap
