// A transfer cache: objects of one size class on their way from thread to thread, or back to those of the same processors
// (shared_lists.h has them all).
//
// A thread whose bin overflows leaves a batch here, one whose bin is empty takes a batch: one lock and one
// copy of pointers, and no object is touched. What does not fit goes to the central list.
//
// Synchronisation: a lock each; it is not held while the central list or the page heap is called.
// Invariant: count_ <= capacity_; low_water_ is the least count_ since the last ReleaseIdle.
#pragma once

#include "base/spinlock.h"
#include "heap/size_class.h"

namespace mallow::heap {

class TransferCache {
 public:
  constexpr TransferCache() = default;

  // Takes objects out; returns how many, at slots [0, result).
  size_t Remove(void** slots, size_t count);
  // Takes the last of the objects in; returns how many, those at [count - result, count).
  size_t Insert(SizeClass size_class, void* const* objects, size_t count);

  // Of the threads for which it is: that one has taken some out; whether one had since the last call. A hint, without the lock.
  void SetInUse() { __atomic_store_n(&in_use_, true, __ATOMIC_RELAXED); }
  bool TakeInUse() { return __atomic_exchange_n(&in_use_, false, __ATOMIC_RELAXED); }

  // Gives half of what nobody asked for since the last call to the central list.
  void ReleaseIdle(SizeClass size_class);
  void ReleaseAll(SizeClass size_class);

  size_t count() const { return __atomic_load_n(&count_, __ATOMIC_RELAXED); }
  Spinlock& lock() { return lock_; }

  // For tests and checks only.
  bool IsValid(SizeClass size_class);

  // Most objects of the class that it holds.
  static size_t CapacityOf(SizeClass size_class);

 private:
  void ReleaseSome(SizeClass size_class, size_t most);

  alignas(kCacheLineBytes) Spinlock lock_{LockRank::kTransferCache};
  size_t count_ = 0;
  size_t low_water_ = 0;
  bool in_use_ = false;
  // Made at the first Insert.
  void** slots_ = nullptr;
};

// The two together, as thread caches use them.
// Fills slots [0, result); the object to be used first comes last. 0: no memory.
size_t FetchObjects(SizeClass size_class, void** slots, size_t count);
// The same for a thread that begins with the class: small objects that share no cache line with those of others, as far as
// some are at hand.
size_t FetchFirstObjects(SizeClass size_class, void** slots, size_t count);
// Takes objects back; the ones used last come last.
void ReleaseObjects(SizeClass size_class, void* const* objects, size_t count);

}  // namespace mallow::heap
