#include "heap/transfer_cache.h"

#include <string.h>

#include "heap/page_heap.h"
#include "heap/shared_lists.h"
#include "heap/thread_registry.h"
#include "os/thread.h"

namespace mallow::heap {

// Not beside shared_lists, whose pages every program touches.
constinit TransferCache further_transfer_caches[kTransferCaches - 1][kClassCount];

namespace {

// Short objects come in many, and each saves a step; of long ones the memory counts, which no other class can use meanwhile.
constexpr size_t kMostBytes = 512 * 1024;
constexpr size_t kMostObjects = 2048;
constexpr size_t kLong = 32 * 1024;
constexpr size_t kMostLongBytes = 256 * 1024;
// Of these several share a cache line or what is fetched with it. A thread that takes some from another processor slows both
// down, so it asks the central list first, and where the other one uses its own it leaves them there.
constexpr size_t kShort = 256;
bool IsShort(SizeClass size_class) { return Info(size_class).bytes <= kShort; }

// Which of the transfer caches of each class is that of the processor on which the thread runs.
unsigned OwnIndex() { return thread_registry.threads() <= 1 ? 0 : os::Processor() % kTransferCaches; }

// A fork takes the locks of all that are used, and that of the registry first.
MALLOW_COLD void UseTransferCaches(unsigned further) {
  SpinlockHolder holder(thread_registry.lock());
  const unsigned used = further_transfer_caches_used.load(std::memory_order_relaxed);
  further_transfer_caches_used.store(Max(used, further), std::memory_order_release);
}

// From the first that spares some, beginning behind the own one.
size_t RemoveFromOthers(SizeClass size_class, unsigned own, void** slots, size_t count) {
  const unsigned used = TransferCachesUsed();
  for (unsigned i = 1; i <= used; ++i) {
    TransferCache& other = TransferCacheAt(size_class, (own + i) % used);
    if (other.count() == 0 || (IsShort(size_class) && other.TakeInUse())) continue;
    if (const size_t taken = other.Remove(slots, count)) return taken;
  }
  return 0;
}

}  // namespace

size_t TransferCache::CapacityOf(SizeClass size_class) {
  const size_t bytes = Info(size_class).bytes;
  return Clamp<size_t>((bytes > kLong ? kMostLongBytes : kMostBytes) / bytes, 1, kMostObjects);
}

size_t TransferCache::Remove(void** slots, size_t count) {
  // A look without the lock: nothing is lost when another thread is just filling it.
  if (this->count() == 0) return 0;
  SpinlockHolder holder(lock_);
  const size_t taken = Min(count, count_);
  memcpy(slots, slots_ + count_ - taken, taken * sizeof(void*));
  __atomic_store_n(&count_, count_ - taken, __ATOMIC_RELAXED);
  low_water_ = Min(low_water_, count_);
  return taken;
}

size_t TransferCache::Insert(SizeClass size_class, void* const* objects, size_t count) {
  const size_t capacity = CapacityOf(size_class);
  void** fresh = nullptr;
  if (MALLOW_UNLIKELY(__atomic_load_n(&slots_, __ATOMIC_RELAXED) == nullptr)) {
    fresh = static_cast<void**>(
        page_heap.AllocateMetadata(capacity * sizeof(void*), kCacheLineBytes, MetadataArena::Use::kSparse));
    if (fresh == nullptr) return 0;
  }
  SpinlockHolder holder(lock_);
  // When two threads come first at once, the array of one is lost: a few KiB, once.
  if (slots_ == nullptr) __atomic_store_n(&slots_, fresh, __ATOMIC_RELAXED);
  const size_t taken = Min(count, capacity - count_);
  memcpy(slots_ + count_, objects + count - taken, taken * sizeof(void*));
  __atomic_store_n(&count_, count_ + taken, __ATOMIC_RELAXED);
  return taken;
}

// Objects leave in pieces through the stack, because no lock may be held meanwhile.
void TransferCache::ReleaseSome(SizeClass size_class, size_t most) {
  void* piece[64];
  while (most > 0) {
    const size_t taken = Remove(piece, Min(most, sizeof(piece) / sizeof(piece[0])));
    if (taken == 0) return;
    shared_lists[size_class].central.Release(piece, taken);
    most -= taken;
  }
}

void TransferCache::ReleaseIdle(SizeClass size_class) {
  size_t idle;
  {
    SpinlockHolder holder(lock_);
    idle = DivideUp(low_water_, 2);
    low_water_ = count_ - idle;
  }
  ReleaseSome(size_class, idle);
}

void TransferCache::ReleaseAll(SizeClass size_class) { ReleaseSome(size_class, kMostObjects); }

bool TransferCache::IsValid(SizeClass size_class) {
  SpinlockHolder holder(lock_);
  return count_ <= CapacityOf(size_class) && low_water_ <= count_ && (count_ == 0 || slots_ != nullptr);
}

size_t FetchObjects(SizeClass size_class, void** slots, size_t count) {
  const unsigned own = OwnIndex();
  if (MALLOW_LIKELY(own < TransferCachesUsed())) {
    TransferCache& cache = TransferCacheAt(size_class, own);
    if (const size_t taken = cache.Remove(slots, count)) {
      cache.SetInUse();
      return taken;
    }
  }
  CentralList& central = shared_lists[size_class].central;
  if (!IsShort(size_class) || central.free_objects() == 0) {
    if (const size_t taken = RemoveFromOthers(size_class, own, slots, count)) return taken;
  }
  const size_t fetched = central.Fetch(size_class, slots, count);
  if (fetched < count) memmove(slots, slots + count - fetched, fetched * sizeof(void*));
  return fetched;
}

size_t FetchFirstObjects(SizeClass size_class, void** slots, size_t count) {
  const size_t taken =
      SharesLines(size_class) ? shared_lists[size_class].central.FetchWholeLines(slots, count) : 0;
  return taken > 0 ? taken : FetchObjects(size_class, slots, count);
}

void ReleaseObjects(SizeClass size_class, void* const* objects, size_t count) {
  const unsigned own = OwnIndex();
  if (MALLOW_UNLIKELY(own >= TransferCachesUsed())) UseTransferCaches(own);
  const size_t taken = TransferCacheAt(size_class, own).Insert(size_class, objects, count);
  if (taken < count) shared_lists[size_class].central.Release(objects, count - taken);
}

}  // namespace mallow::heap
