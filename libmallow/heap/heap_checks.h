// For tests: the invariants of the whole heap.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "heap/heap.h"
#include "heap/page_heap.h"
#include "heap/shared_lists.h"
#include "heap/statistics.h"
#include "heap/thread_registry.h"

namespace mallow::heap {

inline bool AllBytesAre(const void* p, size_t bytes, unsigned char value) {
  const auto* byte = static_cast<const unsigned char*>(p);
  return bytes == 0 || (byte[0] == value && memcmp(byte, byte + 1, bytes - 1) == 0);
}

inline void ExpectValidHeap() {
  EXPECT_TRUE(page_heap.IsValid());
  for (SizeClass c = 1; c < kClassCount; ++c) {
    EXPECT_TRUE(shared_lists[c].central.IsValid(c)) << "class " << c;
    ForTransferCaches(c, [c](TransferCache& cache) { EXPECT_TRUE(cache.IsValid(c)) << "class " << c; });
  }
  ThreadCache* cache = thread_words.cache;
  if (cache != nullptr && cache != kThreadEnded) {
    EXPECT_TRUE(cache->IsValid());
  }
  thread_registry.TryLookAtWarm([](const ThreadCache& warm) { EXPECT_TRUE(warm.IsValid()); });
}

// After every block was freed and Trim called: nothing is in use, nothing holds memory.
inline void ExpectEmptyHeap() {
  const Statistics statistics = GetStatistics();
  EXPECT_EQ(statistics.in_use_bytes, 0u);
  EXPECT_EQ(statistics.in_use_blocks, 0u);
  EXPECT_EQ(statistics.page_heap_bytes, statistics.system_bytes);
  EXPECT_EQ(statistics.returned_bytes, statistics.system_bytes);
}

}  // namespace mallow::heap
