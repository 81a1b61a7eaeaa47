#include "heap/thread_registry.h"

#include <atomic>
#include <initializer_list>

#include "heap/page_heap.h"
#include "heap/statistics.h"
#include "os/clock.h"
#include "os/thread.h"

namespace mallow::heap {

constinit ThreadRegistry thread_registry;
constinit MALLOW_THREAD_LOCAL ThreadWords thread_words;

namespace {

os::ThreadExitHook exit_hook;
std::atomic<bool> every_call_slow{false};

// Together the caches may keep as much as a small heap is long, but never so little that they are of no use, and a share of a
// larger one: they are part of it themselves, so that nothing would bound them.
constexpr size_t kLeastTotal = 2 * 1024 * 1024;
constexpr size_t kSmallHeap = 16 * 1024 * 1024;
constexpr size_t kHeapShare = 2;
constexpr size_t kLeastPerThread = 256 * 1024;
constexpr size_t kMostPerThread = 32 * 1024 * 1024;
// Of large objects together: all that some threads can keep, so that only many have to share, and they may all sleep then.
constexpr Pages kLeastTotalLarge = 64 * 1024 * 1024 / kPageBytes;
constexpr Pages kHeapShareLarge = 8;
// What ended threads may leave together, if it is more than what a living one may have.
constexpr size_t kLeastWarm = 1024 * 1024;
// Of threads that end soon after one another one tells the others: it takes time for each.
constexpr uint64_t kEndsApart = 4 * 1000 * 1000;
// How many of the caches of ended threads are looked at for that of a certain one.
constexpr int kLookedAt = 16;

// One plain store: hit paths load it without a lock.
void Store(internal::Cursors** word, internal::Cursors* cursors) {
  __atomic_store_n(word, cursors, __ATOMIC_RELAXED);
}

}  // namespace

void CloseHitPaths() { Store(&thread_words.cursors, &internal::empty_cache.cursors); }

void OpenHitPaths(ThreadCache* cache) {
  if (every_call_slow.load(std::memory_order_relaxed)) return;
  Store(&thread_words.cursors, cache->cursors());
  // Another thread may just be closing them: either it sees this word open, or this thread its wish.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (every_call_slow.load(std::memory_order_relaxed)) CloseHitPaths();
}

bool HitPathsAreOpen() { return internal::MayHit(); }

void ThreadRegistry::SetEveryCallSlow(bool slow) {
  SpinlockHolder holder(lock_);
  every_call_slow.store(slow, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (ThreadCache* cache = live_.first(); cache != nullptr; cache = live_.Next(cache)) {
    if (cache->owner_cursors == nullptr) continue;
    // What an idle watch has closed it opens itself.
    if (!slow && cache->watching()) continue;
    Store(cache->owner_cursors, slow ? &internal::empty_cache.cursors : cache->cursors());
  }
}

void ThreadRegistry::LetOthersWatch(uint64_t now_nanoseconds, uint64_t least_apart, bool to_stay) {
  const uint64_t last = __atomic_load_n(&last_watch_of_all_[to_stay], __ATOMIC_RELAXED);
  if (last != 0 && now_nanoseconds - last < least_apart) return;
  if (!to_stay && !page_heap.MayHoldMuch()) return;
  SpinlockHolder holder(lock_);
  __atomic_store_n(&last_watch_of_all_[to_stay], now_nanoseconds, __ATOMIC_RELAXED);
  for (ThreadCache* cache = live_.first(); cache != nullptr; cache = live_.Next(cache)) {
    if (cache->owner_cursors == nullptr || cache == thread_words.cache) continue;
    cache->watch().Wake(to_stay);
    Store(cache->owner_cursors, &internal::empty_cache.cursors);
  }
}

void ThreadRegistry::EndWatch(ThreadCache* cache) {
  SpinlockHolder holder(lock_);
  cache->watch().Stop();
  OpenHitPaths(cache);
}

size_t ThreadRegistry::BudgetPerThread() const {
  const size_t heap = page_heap.system_pages() * kPageBytes;
  const size_t total = Clamp(heap, kLeastTotal, Max(kSmallHeap, heap / kHeapShare));
  return Clamp(total / Max<size_t>(1, threads()), kLeastPerThread, kMostPerThread);
}

Pages ThreadRegistry::LargePagesPerThread() const {
  const Pages total = Max(kLeastTotalLarge, page_heap.system_pages() / kHeapShareLarge);
  return Min(total / Max<size_t>(1, threads()), page_heap.MostKept());
}

void ThreadRegistry::SeeThreadsEnd() {
  SpinlockHolder holder(lock_);
  exit_hook.Create(&AtThreadExit);
}

ThreadCache* ThreadRegistry::Attach() {
  if (thread_words.cache == kThreadEnded) return nullptr;
  ThreadCache* cache;
  {
    SpinlockHolder holder(lock_);
    cache = TakeWarmFor(os::Processor(), ThreadIdentity());
    if (cache == nullptr) cache = TakeSpare();
  }
  if (cache == nullptr) {
    cache = static_cast<ThreadCache*>(
        page_heap.AllocateMetadata(sizeof(ThreadCache), alignof(ThreadCache), MetadataArena::Use::kSparse));
    if (cache == nullptr) return nullptr;
    cache->Begin();
  }
  {
    SpinlockHolder holder(lock_);
    live_.PushFront(cache);
    __atomic_store_n(&threads_, threads_ + 1, __ATOMIC_RELAXED);
    // A process without a key left cannot see threads end: their caches are then lost with them.
    exit_hook.Create(&AtThreadExit);
  }
  cache->owner = ThreadIdentity();
  thread_words.cache = cache;
  OpenHitPaths(cache);
  // May call malloc, which finds the cache already.
  if (exit_hook.Arm(cache)) LetOthersSwitch(cache);
  return cache;
}

void ThreadRegistry::AtThreadExit(void* cache) { thread_registry.Detach(static_cast<ThreadCache*>(cache)); }

// From here on until Detach: the word lives as long as the thread, whose end is seen.
void ThreadRegistry::LetOthersSwitch(ThreadCache* cache) {
  SpinlockHolder holder(lock_);
  cache->owner_cursors = &thread_words.cursors;
  if (every_call_slow.load(std::memory_order_relaxed)) CloseHitPaths();
}

void ThreadRegistry::Detach(ThreadCache* cache) {
  {
    SpinlockHolder holder(lock_);
    cache->owner_cursors = nullptr;
  }
  // Destructors that run later still free and allocate, without a cache.
  CloseHitPaths();
  thread_words.cache = kThreadEnded;
  cache->processor = os::Processor();
  cache->FlushLong();
  // The last that is heard of this thread. Where it leaves one alone, nobody else will ever say so.
  const uint64_t least_apart = threads() <= 2 ? 0 : kEndsApart;
  LetOthersWatch(os::CoarseNanoseconds(), least_apart, page_heap.wants_visits_of_all());
  {
    SpinlockHolder holder(lock_);
    const size_t most = Max(BudgetPerThread(), kLeastWarm);
    live_.Remove(cache);
    __atomic_store_n(&threads_, threads_ - 1, __ATOMIC_RELAXED);
    if (TryKeepWarm(cache, most)) return;
  }
  cache->Flush();
  SpinlockHolder holder(lock_);
  AddSpare(cache);
}

void ThreadRegistry::AddSpare(ThreadCache* cache) {
  spare_.PushFront(cache);
  ++spares_;
}

ThreadCache* ThreadRegistry::TakeSpare() {
  ThreadCache* const cache = spare_.PopFront();
  if (cache == nullptr) return bare_.PopFront();
  least_spares_ = Min(least_spares_, --spares_);
  return cache;
}

bool ThreadRegistry::ReleaseIdleSpares() {
  size_t idle;
  {
    SpinlockHolder holder(lock_);
    idle = DivideUp(least_spares_, 2);
    least_spares_ = spares_ - idle;
  }
  return ReleaseSpares(idle);
}

bool ThreadRegistry::ReleaseAllSpares() { return ReleaseSpares(SIZE_MAX); }

bool ThreadRegistry::ReleaseSpares(size_t most) {
  size_t released = 0;
  for (; released < most; ++released) {
    ThreadCache* cache;
    {
      SpinlockHolder holder(lock_);
      cache = spare_.last();
      if (cache == nullptr) break;
      spare_.Remove(cache);
      least_spares_ = Min(least_spares_, --spares_);
    }
    cache->ReleaseBins();
    SpinlockHolder holder(lock_);
    bare_.PushFront(cache);
  }
  return released != 0;
}

bool ThreadRegistry::TryKeepWarm(ThreadCache* cache, size_t most) {
  const size_t bytes = cache->SmallBytes();
  if (warm_bytes_ + bytes > most) return false;
  warm_.PushFront(cache);
  warm_bytes_ += bytes;
  return true;
}

ThreadCache* ThreadRegistry::TakeWarm() {
  ThreadCache* const cache = warm_.first();
  if (cache != nullptr) RemoveWarm(cache);
  return cache;
}

ThreadCache* ThreadRegistry::TakeWarmFor(unsigned processor, uintptr_t thread) {
  ThreadCache* best = nullptr;
  int best_match = -1;
  ThreadCache* cache = warm_.first();
  for (int left = kLookedAt; cache != nullptr && left > 0; --left, cache = warm_.Next(cache)) {
    const int match = 2 * (cache->processor == processor) + (cache->owner == thread);
    if (match <= best_match) continue;
    best = cache;
    best_match = match;
  }
  if (best != nullptr) RemoveWarm(best);
  return best;
}

void ThreadRegistry::RemoveWarm(ThreadCache* cache) {
  warm_.Remove(cache);
  warm_bytes_ -= cache->SmallBytes();
}

void ThreadRegistry::ReleaseWarm() {
  for (;;) {
    ThreadCache* cache;
    {
      SpinlockHolder holder(lock_);
      cache = TakeWarm();
    }
    if (cache == nullptr) return;
    cache->Flush();
    SpinlockHolder holder(lock_);
    AddSpare(cache);
  }
}

void ThreadRegistry::AddTo(Statistics& total) {
  SpinlockHolder holder(lock_);
  for (const auto* caches : {&live_, &warm_}) {
    for (const ThreadCache* cache = caches->first(); cache != nullptr; cache = caches->Next(cache))
      cache->AddTo(total);
  }
  total.thread_caches += threads_;
}

void ThreadRegistry::KeepOnlyThisThread() {
  live_.Clear();
  ThreadCache* cache = thread_words.cache;
  const bool attached = reinterpret_cast<uintptr_t>(cache) > 1;
  if (attached) live_.PushFront(cache);
  __atomic_store_n(&threads_, attached ? 1 : 0, __ATOMIC_RELAXED);
}

}  // namespace mallow::heap
