// All thread caches: made at a thread's first slow call, recycled when the thread ends.
//
// A thread that ends leaves its small objects in its cache, which stays *warm* for the next thread that begins: neither
// hands them over one by one, and the next has them where the last one used them. Together warm caches hold no more than
// one living thread may, or a little; they are emptied when the heap takes fresh pages, and when idle memory goes back.
//
// Of several warm caches a thread takes one that was left on its processor, where the objects still are, and of those that of
// the thread whose place it has: libc gives the stack of a thread that was joined to the next one that the joining thread
// starts, and with it the identity. Otherwise the successors of threads that end at one time would mix up their
// objects, and then share cache lines.
//
// Synchronisation: one lock; not held while any other function of the heap is called.
#pragma once

#include "base/spinlock.h"
#include "heap/thread_cache.h"

namespace mallow::heap {

class ThreadRegistry {
 public:
  constexpr ThreadRegistry() = default;

  // The cache of the calling thread, made when it has none yet. Null: it has ended or there is no memory; the
  // caller then works on the central lists directly.
  ThreadCache* Attach();

  // Lets threads be seen to end, unless the process has no key left for that; Attach does it too. Early is safer.
  void SeeThreadsEnd();

  // What each thread may keep, from the number of threads and the size of the heap.
  size_t BudgetPerThread() const;
  // The same of large objects, in pages. None of those that go back at once.
  Pages LargePagesPerThread() const;

  // Gives back what ended threads have left.
  void ReleaseWarm();

  // Gives the memory of empty caches back, which no thread has: of half of those that none has needed since the last call,
  // or of all. False: there was none.
  bool ReleaseIdleSpares();
  bool ReleaseAllSpares();

  // Counts what lies in all caches.
  void AddTo(Statistics& total);
  // Calls look(const ThreadCache&) for each warm cache, with the lock held; does nothing when that is taken.
  template <typename Look>
  void TryLookAtWarm(Look look) {
    if (!lock_.TryLock()) return;
    for (const ThreadCache* cache = warm_.first(); cache != nullptr; cache = warm_.Next(cache)) look(*cache);
    lock_.Unlock();
  }
  // The number of caches in use.
  size_t threads() const { return __atomic_load_n(&threads_, __ATOMIC_RELAXED); }

  // See CloseAllHitPaths and OpenAllHitPaths.
  void SetEveryCallSlow(bool slow);

  // Begins the idle watches of all threads but the calling one, in which also busy ones are to stay or not, unless the same was
  // done less than so long ago, or so little is mapped that little can be idle; see idle_watch.h. It takes a line of the cache
  // or two for each thread.
  void LetOthersWatch(uint64_t now_nanoseconds, uint64_t least_apart, bool to_stay);
  // Ends that of the calling thread, which has this cache, and opens its hit paths.
  void EndWatch(ThreadCache* cache);

  // In a fork child, where no other thread exists any more. REQUIRES the lock.
  void KeepOnlyThisThread();

  Spinlock& lock() { return lock_; }

 private:
  static void AtThreadExit(void* cache);
  void Detach(ThreadCache* cache);
  void LetOthersSwitch(ThreadCache* cache);
  // All but the last REQUIRE the lock.
  bool TryKeepWarm(ThreadCache* cache, size_t most);
  ThreadCache* TakeWarm();
  // That of a thread that ended on this processor, if one did, and of this identity, if one was.
  ThreadCache* TakeWarmFor(unsigned processor, uintptr_t thread);
  void RemoveWarm(ThreadCache* cache);
  void AddSpare(ThreadCache* cache);
  ThreadCache* TakeSpare();
  // Takes no more locks than one at a time.
  bool ReleaseSpares(size_t most);

  Spinlock lock_{LockRank::kThreadRegistry};
  List<ThreadCache, &ThreadCache::links> live_;
  List<ThreadCache, &ThreadCache::links> warm_;   // of ended threads, the last one first
  List<ThreadCache, &ThreadCache::links> spare_;  // empty, the last one first
  List<ThreadCache, &ThreadCache::links> bare_;   // empty, and the memory of their bins was given back
  size_t spares_ = 0;                             // in spare_
  size_t least_spares_ = 0;                       // since the last ReleaseIdleSpares
  size_t warm_bytes_ = 0;
  uint64_t last_watch_of_all_[2] = {};  // by whether they were to stay
  size_t threads_ = 0;
};

extern ThreadRegistry thread_registry;

// In the word of a thread whose cache is gone for good.
inline ThreadCache* const kThreadEnded = reinterpret_cast<ThreadCache*>(1);

// Of the calling thread: while they are closed no call of its own hits, as if its cache were empty and full.
void CloseHitPaths();
void OpenHitPaths(ThreadCache* cache);
bool HitPathsAreOpen();

// The cache to use in a slow path; null: none can be had.
MALLOW_ALWAYS_INLINE ThreadCache* CurrentCache() {
  ThreadCache* cache = thread_words.cache;
  return MALLOW_LIKELY(reinterpret_cast<uintptr_t>(cache) > 1) ? cache : thread_registry.Attach();
}

}  // namespace mallow::heap
