// What the heap says of itself, in parts that add up.
//
// Every byte mapped from the system for blocks is in exactly one part:
//
//   system = in use + thread caches + transfer caches + central lists + page heap + tails
//
// and every block of a size class is in use or in one of the three lists of free ones. In use is what remains when the
// others are taken away, so it holds the usable bytes of the live blocks.
//
// Exact while no other thread is inside the heap. Otherwise each part is right for some moment during the call: a block
// that moved meanwhile may be counted twice or not at all, and a difference that would be negative is 0. In a fork
// child what lay in the caches of the parent's other threads stays in use for ever.
#pragma once

#include "heap/size_class.h"

namespace mallow::heap {

// Of one size class, in blocks.
struct ClassStatistics {
  uint64_t spans;
  uint64_t in_use;
  uint64_t in_thread_caches;
  uint64_t in_transfer_cache;
  uint64_t in_central_list;

  uint64_t free() const { return in_thread_caches + in_transfer_cache + in_central_list; }
};

struct Statistics {
  uint64_t system_bytes;
  uint64_t in_use_bytes;
  uint64_t thread_cache_bytes;  // with the large blocks that threads keep for their next malloc
  uint64_t transfer_cache_bytes;
  uint64_t central_list_bytes;
  uint64_t page_heap_bytes;
  uint64_t tail_bytes;  // at the ends of spans, too short for a block

  uint64_t most_system_bytes;  // so far
  uint64_t returned_bytes;     // of page_heap_bytes: hold no memory
  uint64_t metadata_bytes;     // the heap's own structures, not part of system_bytes

  uint64_t in_use_blocks;
  uint64_t large_blocks;  // of these, a span each
  uint64_t large_bytes;
  uint64_t kept_large_blocks;  // in thread caches
  uint64_t kept_large_bytes;
  uint64_t free_spans;  // of the page heap
  uint64_t thread_caches;
  uint64_t map_calls;  // for blocks and for metadata, failed ones too

  ClassStatistics classes[kClassCount];  // by size class; the first is empty

  uint64_t free_bytes() const {
    return thread_cache_bytes + transfer_cache_bytes + central_list_bytes + page_heap_bytes;
  }
};

// Takes each lock of the heap once, never two together, and looks at every bin of every thread cache:
// microseconds.
Statistics GetStatistics();

}  // namespace mallow::heap
