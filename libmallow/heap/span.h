// A span: a run of pages that is free, or holds objects of one size class, or is one large object.
//
// Synchronisation: a free span and the fields above the line belong to the page heap's lock; the bits of a small
// span belong to the lock of its central list; a large span belongs to whoever holds the object, or keeps it for the next.
// Span structures are never given back to the system, so a stale pointer to one can be read (and is then
// found out by its address range).
#pragma once

#include "base/config.h"
#include "base/list.h"
#include "heap/pages.h"
#include "heap/size_class.h"

namespace mallow::heap {

struct Span;

inline constexpr size_t kInlineRecordBytes = kMaxObjectsPerSpan / 8 / 2;

// kKept: a large one that the thread that freed it keeps, see large_cache.h, or the page heap, see kept_mappings.h.
enum class SpanState : uint8_t { kUnused, kFree, kSmall, kLarge, kKept };

// What a free span keeps where a small one has its bits.
struct FreeSpanPart {
  Pages resident;  // pages that may hold memory
  bool in_age_list;
  Span* left;  // in the tree of long free spans
  Span* right;
  uint64_t priority;
};

// What one has there that the page heap keeps.
struct KeptSpanPart {
  Pages resident;  // pages that are in memory: an estimate
  bool idle;       // for some time
};

struct alignas(kCacheLineBytes) Span {
  // Free: list of its length; kept by the page heap: those; small: central list's spans with free objects.
  ListLinks<Span> links;
  PageId page;
  Pages pages;
  // Side records of the objects, or null when nobody asked for them.
  char* records;
  SpanState state;
  union {
    uint8_t size_class;  // small
    bool moved_away;     // large: its pages hold nothing any more, see Relocate in heap.h
  };
  uint16_t free_objects;  // small: number of set bits
  uint32_t object_bytes;  // small
  uint32_t reciprocal;    // small, see SizeClassInfo
  uint32_t objects;       // small
  uint16_t given_back;    // small: free objects when memory of some went back, else 0; see GiveBackUnused
  uint16_t trimmed;       // the same of GiveBackAll
  bool mapped;            // large: alone in a mapping, see PageHeap::AllocateMapped
  bool used_before;       // large, mapped: it may hold what an earlier block did
  // -----------------------------------------------------------------------------------------------
  union {
    // Small: bit i is set while object i is in the central list. Spans of few objects keep their side
    // records in the upper half.
    uint64_t free_bits[kMaxObjectsPerSpan / 64];
    Pages room;         // large, mapped: mapped behind it for it to grow, and no page of a span
    KeptSpanPart kept;  // kept by the page heap: see kept_mappings.h
    struct {
      ListLinks<Span> age;  // free: among spans with resident pages, oldest last
      FreeSpanPart free;
    };
  };

  // Side records of up to so many bytes lie in the upper half of the bits.
  char* inline_records() { return reinterpret_cast<char*>(free_bits + kMaxObjectsPerSpan / 64 / 2); }

  // The thread that keeps a large span changes its state without a lock, while others look at it as a neighbour
  // of theirs.
  SpanState State() const {
    return static_cast<SpanState>(
        __atomic_load_n(reinterpret_cast<const uint8_t*>(&state), __ATOMIC_RELAXED));
  }
  void SetState(SpanState next) {
    __atomic_store_n(reinterpret_cast<uint8_t*>(&state), static_cast<uint8_t>(next), __ATOMIC_RELAXED);
  }

  PageId end() const { return page + pages; }
  char* start() const { return AddressOf(page); }
  bool Contains(const void* p) const { return PageOf(p) - page < pages; }

  // Pages of a small span in which an object starts: these carry the class and the span in the page map.
  Pages marked_pages() const { return objects == 1 ? 1 : pages; }

  // Index of the object that starts at p, or -1 when p is not the start of an object of this small span.
  int IndexOf(const void* p) const {
    size_t index;
    return MALLOW_LIKELY(TryIndexOf(p, &index)) ? static_cast<int>(index) : -1;
  }
  // The same in fewer instructions; false when p is not the start of one.
  MALLOW_ALWAYS_INLINE bool TryIndexOf(const void* p, size_t* index) const {
    const uint64_t offset = static_cast<uint64_t>(static_cast<const char*>(p) - start());
    *index = (offset * reciprocal) >> 32;
    return *index * object_bytes == offset && *index < objects;
  }

  // Small: gives those pages of the system back in which only free objects lie, 16 KiB or more in a row; the objects
  // stay free, and read as zero. Does nothing unless more are free than the last time. Some ns for each run of free
  // objects, some microseconds for each that is long enough. REQUIRES the lock of the central list.
  void GiveBackUnused();
  // The same of every page, unless none has become free since the last time. False: nothing went back.
  bool GiveBackAll();
};

// One of these for 32 KiB of small objects.
static_assert(sizeof(Span) == 2 * kCacheLineBytes);

}  // namespace mallow::heap
