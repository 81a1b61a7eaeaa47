// The central list of one size class: the spans that have free objects, shared by all threads.
//
// Synchronisation: one lock per class; it is not held while the page heap is called.
//
// Invariants: a small span is in the list exactly while it has a free object, unless it is between the central list
// and the page heap in the hands of one thread. free_objects() is the sum over the spans in the list.
// Objects are handed out in address order, from one span until it is empty; spans that get their first object back
// queue up behind, so that those in use fill up and the others get the time to become wholly free.
#pragma once

#include "base/spinlock.h"
#include "heap/span.h"

namespace mallow::heap {

class CentralList {
 public:
  constexpr CentralList() = default;

  // Fills slots [0, count) from the end: the lowest address comes last. Returns how many were filled,
  // at slots [count - result, count); 0 means no memory.
  size_t Fetch(SizeClass size_class, void** slots, size_t count);

  // The same of objects that share no cache line with others, from slot 0 on; 0 also when there are none at hand.
  size_t FetchWholeLines(void** slots, size_t count);

  // Takes objects of this class back. Ends the process when one of them is no object or is free already.
  void Release(void* const* objects, size_t count);

  // Gives the memory of pages back in which only free objects lie, unless some were fetched since the last call.
  void GiveBackUnused();
  // The same at once, and of every page. False: nothing went back.
  bool GiveBackAll();

  size_t free_objects() const { return __atomic_load_n(&free_objects_, __ATOMIC_RELAXED); }
  Spinlock& lock() { return lock_; }

  // Walks everything: for tests and checks only.
  bool IsValid(SizeClass size_class);

 private:
  using SpanList = List<Span, &Span::links>;

  size_t Take(void** slots, size_t count);
  // Takes back the first of `objects` and those after it that lie in the same span; returns how many.
  size_t PutRun(void* const* objects, size_t count, SpanList* emptied);
  // Ends the process, see damage.h. REQUIRES the lock; `span` is the one that was being changed, or null.
  [[noreturn]] MALLOW_COLD void Damaged(Span* span, const char* sentence, const void* object);

  alignas(kCacheLineBytes) Spinlock lock_{LockRank::kCentralList};
  SpanList spans_;
  size_t free_objects_ = 0;
  // Since the last GiveBackUnused.
  bool fetched_ = false;
  bool released_ = false;
};

}  // namespace mallow::heap
