// The thread cache: where nearly every malloc and free begins and ends, without a lock and without counting.
//
// For each size class a *bin*: the newest object in a word of its own, and a stack of the others in an array that ends at
// a multiple of 512 bytes.
//
//     newest     low addresses                                       multiple of 512
//     | e |      ... unused | null | a | b | c | d | free | free | free |
//                             ^ bottom              ^ cursor
//
//   allocate   load the newest; null: the bin is empty, go the slow way. What lies below the cursor is the newest now
//   free       load the cursor; at a multiple of 512 the bin is full, go the slow way (which in a longer bin steps
//              over all but the last). Else the newest goes to the cursor, and the freed one in its place
//
// The null below the oldest object is what was the newest when the bin was empty. So of an empty bin no word of the array
// counts, and how many objects a bin holds is how far its cursor stands from its bottom, the newest counted.
//
// The capacity of a bin is where its bottom lies; nothing else is kept on the hit path. Class 0 (not small) has a
// bin that is full and empty at once, as have all bins of a thread that has no cache yet: no test for either.
//
// What is idle is found by the low-water mark, without work on the hit path: a collection puts a null
// into the middle of each bin and keeps the displaced pointer at the bottom ("hides" the lower half), in the place of the null
// there. A program to which the null comes up as the newest has used it, and the slow path brings it back; what is still hidden
// at the next collection was idle, and half of it goes back. Collections happen on slow paths, after so many bytes fetched.
//
// Call tree of heap::Allocate (deeper = rarer):
//     TryAllocate                        hit: inline
//       AllocateSlow                     thread_cache.cc
//         ThreadCache::Refill            un-hide, or fetch a batch
//           TransferCache::Remove        one lock, one copy
//             CentralList::Fetch         bits of spans
//               PageHeap::AllocateSmall  a new span
//                 os::Map                new memory
//         AllocateLarge                  large.cc, whole pages
//
// Synchronisation: a cache belongs to its thread alone; the registry of caches has a lock. Others read cursors for
// statistics only.
//
// Signals: a handler that allocates while it interrupts the hit path may be given an object that
// the interrupted call also returns (so with any malloc); no structure is damaged by it. A handler that only looks sees
// no object twice: malloc lowers the cursor before it changes the newest, free raises it after.
#pragma once

#include <string.h>

#include "base/config.h"
#include "base/list.h"
#include "heap/idle_watch.h"
#include "heap/large.h"
#include "heap/large_cache.h"
#include "heap/page_map.h"
#include "heap/size_class.h"

namespace mallow::heap {

struct Span;
struct Statistics;

namespace internal {

// Short, because each class that a thread uses touches one: most bins hold a few objects.
inline constexpr size_t kBinBytes = 512;
inline constexpr size_t kBinSlots = kBinBytes / sizeof(void*);
static_assert(kMaxCachedLong < kBinSlots);

// A bin of more objects than fit into that is somewhere else, in one as long as its class may need.
struct LongBins {
  uint16_t end[kClassCount] = {};  // in slots from the beginning of all
  size_t slots = 0;

  constexpr LongBins() {
    for (SizeClass c = 1; c < kClassCount; ++c) {
      if (kSizeClasses.info[c].max_cached < kBinSlots) continue;
      slots += RoundUp(size_t{kSizeClasses.info[c].max_cached} + 1, kBinSlots);
      end[c] = static_cast<uint16_t>(slots);
    }
  }
};
inline constexpr LongBins kLongBins;
static_assert(kLongBins.slots <= UINT16_MAX);

// All that the hit paths know of a cache: its first member, and the whole of the empty one.
//
// A loop that frees what it has just allocated is one chain of waiting: the object, the class of its page, the place of
// the newest of that class, which the next malloc returns. Its last link is cut where that store and that load are
// addressed by one register. All that a call does to a bin is, by the same one.
struct Cursors {
  // The newest object of a class, or null when the bin is (or looks) empty.
  MALLOW_ALWAYS_INLINE void* Pop(SizeClass size_class) {
    void** const bin = InOneRegister(words, size_class);
    void* const object = InResultRegister(bin[kNewest]);
    if (MALLOW_UNLIKELY(object == nullptr)) return nullptr;
    void** const cursor = static_cast<void**>(bin[0]) - 1;
    void* const next = *cursor;
    __atomic_store_n(&bin[0], cursor, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    bin[kNewest] = next;
    return object;
  }

  // The counterpart: false when the bin is full.
  MALLOW_ALWAYS_INLINE bool TryPush(SizeClass size_class, void* object) {
    void** const bin = InOneRegister(words, size_class);
    void** const cursor = static_cast<void**>(bin[0]);
    if (MALLOW_UNLIKELY(reinterpret_cast<uintptr_t>(cursor) % kBinBytes == 0)) return false;
    *cursor = bin[kNewest];
    bin[kNewest] = object;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&bin[0], cursor + 1, __ATOMIC_RELAXED);
    return true;
  }

  void** cursor(SizeClass size_class) const {
    return static_cast<void**>(__atomic_load_n(&words[size_class], __ATOMIC_RELAXED));
  }
  void SetCursor(SizeClass size_class, void** cursor) {
    __atomic_store_n(&words[size_class], cursor, __ATOMIC_RELAXED);
  }
  void*& newest(SizeClass size_class) { return words[kNewest + size_class]; }
  void* newest(SizeClass size_class) const { return words[kNewest + size_class]; }

  static constexpr size_t kNewest = kClassCount;

  // Of each class the cursor, behind them of each the newest object. All zero: every bin is full and empty.
  void* words[2 * kClassCount];
  LargeCache large;
};

// Beside it a copy of the classes by size. A page of its own, so that a shared one can be put in its place
// (hit_switch.h). Never written.
struct alignas(4096) EmptyCache {
  Cursors cursors;
  ClassesBySize classes;
};
extern MALLOW_INTERNAL EmptyCache empty_cache;

}  // namespace internal

class alignas(internal::kBinBytes) ThreadCache {
 public:
  // Makes the bins of a new cache empty, whose memory is zero.
  void Begin();

  // The newest object of a class, or null when the bin is (or looks) empty.
  MALLOW_ALWAYS_INLINE void* Pop(SizeClass size_class) { return cursors_.Pop(size_class); }

  // The counterpart: false when the bin is full.
  MALLOW_ALWAYS_INLINE bool TryPush(SizeClass size_class, void* object) {
    return cursors_.TryPush(size_class, object);
  }

  // Slow paths. Refill returns null when there is no memory.
  void* Refill(SizeClass size_class);
  void Push(SizeClass size_class, void* object);

  // Large objects that wait for the next malloc of their length.
  LargeCache& large() { return cursors_.large; }
  // Counts what was fetched from elsewhere; after so many bytes what is idle goes back, and when a page or more comes at once
  // after fresh pages were taken. Each large object is one collection for those that are kept, never two.
  void CountFetched(size_t bytes, bool large = false);

  // One collection: gives half of what was idle since the last one.
  void Collect();

  // While the hit paths are closed, see idle_watch.h: to be called once for every call that a bin served.
  MALLOW_ALWAYS_INLINE void Visit() {
    if (MALLOW_UNLIKELY(MayLook())) Look();
  }
  // The same in two parts: if the first says so, the second is to follow, or the call goes the slow way, which visits again.
  MALLOW_ALWAYS_INLINE bool MayLook() { return watch_.OnCall(); }
  MALLOW_COLD void Look();
  bool watching() const { return watch_.on(); }
  IdleWatch& watch() { return watch_; }
  // After what may have left much idle, on a slow path: begins a watch where one is wanted, and those of others.
  void WatchIdle();
  // Gives back everything.
  void Flush();
  // Gives the memory of the bins back: which of them its next thread uses is not known. REQUIRES: Flush, and no call since.
  void ReleaseBins();
  // Gives back long objects at the end of a thread, and more of them the more it has: what goes on is cheap beside using it,
  // and another size may need the memory. Ends a watch.
  void FlushLong();
  // Of the objects in the bins, together. REQUIRES: nobody uses the cache.
  size_t SmallBytes() const;

  // Counts what lies in the bins; see statistics.h for what another thread may see.
  void AddTo(Statistics& total) const;

  // Objects in the bin, hidden ones included.
  size_t Length(SizeClass size_class) const;
  size_t Capacity(SizeClass size_class) const {
    return __atomic_load_n(&bins_[size_class].capacity, __ATOMIC_RELAXED);
  }
  bool IsHidden(SizeClass size_class) const { return bins_[size_class].hidden != 0; }
  // The same objects, to `most` places. Returns how many; none if there are more, of which kMaxCached are the most, and none
  // while a slow path moves them about, which the caller has then interrupted.
  size_t CopyObjects(SizeClass size_class, void** to, size_t most) const;
  // For tests and checks only.
  bool IsValid() const;

  // What the hit paths need to know to use this cache, see ThreadWords.
  internal::Cursors* cursors() { return &cursors_; }

  ListLinks<ThreadCache> links;  // the registry's
  // The word of the thread that has this cache, for others to close and open its hit paths; null: nobody may. The
  // registry's.
  internal::Cursors** owner_cursors;
  // The ThreadIdentity of who has it, or had it last. The registry's.
  uintptr_t owner;
  // On which that one ended. The registry's.
  unsigned processor;

 private:
  struct Bin {
    uint16_t capacity;
    uint16_t hidden;      // objects from the oldest to the one whose place the null has; 0: none
    uint16_t left;        // objects that the last collection left
    bool active : 1;      // a slow path of this bin ran since the last collection
    bool moving : 1;      // a slow path is just moving the objects
    bool overflowed : 1;  // since it was empty, or looked so
    uint8_t strangers;    // objects that went back before the bin was opened
  };
  static_assert(sizeof(Bin) == 8);

  // Statistics of other threads read these, hence the atomic stores.
  void StoreCapacity(SizeClass size_class, size_t capacity) {
    __atomic_store_n(&bins_[size_class].capacity, static_cast<uint16_t>(capacity), __ATOMIC_RELAXED);
  }
  // Between the two a bin may hold an object twice, or one that is the central list's already. For a signal handler
  // of the same thread to read, so the compiler alone must keep the order.
  void SetMoving(SizeClass size_class, bool moving) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    bins_[size_class].moving = moving;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  // Where the null below the oldest object lies, or would.
  void** Bottom(SizeClass size_class) { return BottomAt(size_class, bins_[size_class].capacity); }
  void* const* Bottom(SizeClass size_class) const {
    return const_cast<ThreadCache*>(this)->BottomAt(size_class, bins_[size_class].capacity);
  }
  void** BottomAt(SizeClass size_class, size_t capacity) {
    void** const end = capacity < internal::kBinSlots ? slots_[size_class] + internal::kBinSlots
                                                      : long_slots_ + internal::kLongBins.end[size_class];
    return end - capacity;
  }
  // Where an object of a bin is, counted from the oldest.
  void*& Slot(SizeClass size_class, size_t index) {
    void** const slot = Bottom(size_class) + 1 + index;
    return slot == cursors_.cursor(size_class) ? cursors_.newest(size_class) : *slot;
  }
  void Reset();
  void Hide(SizeClass size_class);
  void Unhide(SizeClass size_class);
  void SetCapacity(SizeClass size_class, size_t capacity);
  bool MayGrow(SizeClass size_class, size_t capacity) const;
  void ReleaseOldest(SizeClass size_class, size_t count);
  void Place(SizeClass size_class, void* object);
  // For a class of which there is no room for any.
  void* FetchOne(SizeClass size_class);
  void CollectBin(SizeClass size_class);
  // On a slow path, which is a visit in itself.
  void CollectInPassing();
  void FlushBin(SizeClass size_class);

  internal::Cursors cursors_;
  size_t capacity_bytes_;  // sum over bins of capacity times size
  size_t budget_;          // what it may become
  size_t fetched_;         // bytes since the last collection, see CountFetched
  bool short_of_room_;     // since then: there was none for the first of a class
  IdleWatch watch_;
  Bin bins_[kClassCount];
  alignas(internal::kBinBytes) void* slots_[kClassCount][internal::kBinSlots];
  void* long_slots_[internal::kLongBins.slots];
};

// What a thread has of its own.
struct ThreadWords {
  // The cache that the hit paths use: the empty one in a thread without a cache and whenever every call has to be seen.
  internal::Cursors* cursors = &internal::empty_cache.cursors;
  // The cache of the thread; null: not made yet; kThreadEnded: never again.
  ThreadCache* cache = nullptr;
};
extern MALLOW_INTERNAL MALLOW_THREAD_LOCAL ThreadWords thread_words;

namespace internal {

// The cursors that the hit paths use, and whether they are a cache's.
MALLOW_ALWAYS_INLINE Cursors& HitCursors() { return *MALLOW_LOAD_SHARED(thread_words.cursors); }
MALLOW_ALWAYS_INLINE bool MayHit() { return &HitCursors() != &empty_cache.cursors; }

}  // namespace internal

// Where the hit paths go on when they fail. Complete: they accept any size and any pointer. FreeSlow returns false,
// and does nothing, when the pointer is neither null nor ours.
void* AllocateSlow(size_t bytes);
bool FreeSlow(void* p);
// The same for an object of a known small class.
void FreeOfClass(void* p, SizeClass size_class);

// The hit path of malloc: an object, or null when the slow way must be gone (see AllocateSlow).
MALLOW_ALWAYS_INLINE void* TryAllocate(size_t bytes) {
  const internal::ClassesBySize& classes = internal::empty_cache.classes;
  if (MALLOW_LIKELY(bytes <= internal::kFineLimit)) return internal::HitCursors().Pop(classes.OfFine(bytes));
  if (MALLOW_UNLIKELY(bytes > kMaxSmallBytes)) return nullptr;
  return internal::HitCursors().Pop(classes.OfCoarse(bytes));
}

// While the hit paths are closed: a small object of the thread's cache, which GiveBackClosed takes back as if it had not
// been taken. Null: go the slow way.
struct TakenObject {
  void* start;
  SizeClass size_class;
};
MALLOW_ALWAYS_INLINE TakenObject TryTakeClosed(size_t bytes) {
  ThreadCache* const cache = thread_words.cache;
  if (MALLOW_UNLIKELY(reinterpret_cast<uintptr_t>(cache) <= 1) || MALLOW_UNLIKELY(cache->MayLook()))
    return {};
  const internal::ClassesBySize& classes = internal::kSizeClasses.by_size;
  SizeClass size_class;
  if (MALLOW_LIKELY(bytes <= internal::kFineLimit)) {
    size_class = classes.OfFine(bytes);
  } else {
    if (MALLOW_UNLIKELY(bytes > kMaxSmallBytes)) return {};
    size_class = classes.OfCoarse(bytes);
  }
  return {cache->Pop(size_class), size_class};
}

MALLOW_ALWAYS_INLINE void GiveBackClosed(void* p, SizeClass size_class) {
  if (MALLOW_UNLIKELY(!thread_words.cache->TryPush(size_class, p))) FreeOfClass(p, size_class);
}

// FreeOfClass while the hit paths are closed.
MALLOW_ALWAYS_INLINE void FreeOfClassClosed(void* p, SizeClass size_class) {
  ThreadCache* const cache = thread_words.cache;
  if (MALLOW_UNLIKELY(reinterpret_cast<uintptr_t>(cache) <= 1) ||
      MALLOW_UNLIKELY(!cache->TryPush(size_class, p)))
    return FreeOfClass(p, size_class);
  cache->Visit();
}

// Puts an object of a known class into the thread's bin; false: it has to go the slow way (see FreeSlow).
MALLOW_ALWAYS_INLINE bool TryFreeOfClass(void* p, SizeClass size_class) {
  return internal::HitCursors().TryPush(size_class, p);
}

// The hit path of free, for any pointer.
MALLOW_ALWAYS_INLINE bool TryFree(void* p) { return TryFreeOfClass(p, PageMap::ClassInWindow(p)); }

// The hit path of sized delete: no look at the page map. `bytes` is what was asked for. Only for blocks that Allocate
// returned, not AllocateAligned.
MALLOW_ALWAYS_INLINE bool TryFreeSized(void* p, size_t bytes) {
  if (MALLOW_UNLIKELY(bytes > kMaxSmallBytes)) return false;
  return TryFreeOfClass(p, SizeClassOf(bytes));
}

// The same for large objects, behind those two: for bytes > kMaxSmallBytes, and for any pointer.
MALLOW_ALWAYS_INLINE void* TryAllocateLarge(size_t bytes) {
  Span* span = internal::HitCursors().large.Take(((bytes - 1) >> kPageShift) + 1);
  return MALLOW_LIKELY(span != nullptr) ? span->start() : nullptr;
}
MALLOW_ALWAYS_INLINE bool TryFreeLarge(void* p) {
  LargeCache& large = internal::HitCursors().large;
  if (MALLOW_UNLIKELY(large.full())) return false;
  Span* span = LargeSpanAt(p);
  return span != nullptr && large.Keep(span);
}

// Usable bytes of a small block in the window of the page map, 0 for any other pointer.
MALLOW_ALWAYS_INLINE size_t SmallBytes(const void* p) { return Info(PageMap::ClassInWindow(p)).bytes; }

// Whether a small block of ours stays where it is when it is to become `bytes` long; false when every call has to be
// seen.
MALLOW_ALWAYS_INLINE bool StaysInPlace(const void* p, size_t bytes) {
  const SizeClass size_class = PageMap::ClassInWindow(p);
  if (size_class == 0 || !internal::MayHit() || bytes - 1 >= kMaxSmallBytes) return false;
  return FitsInPlace(Info(size_class).bytes, bytes);
}

// The hit path of realloc for a block that does not stay in place: a small one moves within the thread's bins. Null:
// nothing has happened and the slow way must be gone, as when every call has to be seen.
MALLOW_ALWAYS_INLINE void* TryReallocate(void* p, size_t bytes) {
  if (p == nullptr) return TryAllocate(bytes);
  const SizeClass size_class = PageMap::ClassInWindow(p);
  if (size_class == 0 || !internal::MayHit() || bytes - 1 >= kMaxSmallBytes) return nullptr;
  void* const to = TryAllocate(bytes);
  if (MALLOW_UNLIKELY(to == nullptr)) return nullptr;
  memcpy(to, p, Min<size_t>(Info(size_class).bytes, bytes));
  if (MALLOW_UNLIKELY(!TryFreeOfClass(p, size_class))) FreeOfClass(p, size_class);
  return to;
}

}  // namespace mallow::heap
