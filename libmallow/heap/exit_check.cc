// The last look at what was freed: a block that was freed twice, or a pointer into a block, which no slow path has come
// to see yet, is found when the process exits. The hit path of free looks at none of it.
#include <cstring>

#include "base/bits.h"
#include "heap/damage.h"
#include "heap/heap.h"
#include "heap/page_map.h"
#include "heap/shared_lists.h"
#include "heap/thread_registry.h"

namespace mallow::heap {
namespace {

// The objects of one bin: open addressing, never full.
class ObjectSet {
 public:
  // Makes room for so many. No more of the slots is touched than they need: memory that only the end of a process
  // takes would be the most that a small program has.
  void Clear(size_t objects) {
    slot_count_ = size_t{1} << Log2Ceiling(2 * objects);
    memset(slots_, 0, slot_count_ * sizeof(void*));
  }

  // False when it was there already.
  bool Add(const void* object) {
    size_t slot = (reinterpret_cast<uintptr_t>(object) >> kShift) % slot_count_;
    for (; slots_[slot] != nullptr; slot = (slot + 1) % slot_count_) {
      if (slots_[slot] == object) return false;
    }
    slots_[slot] = object;
    return true;
  }

 private:
  static constexpr size_t kSlots = size_t{1} << Log2Ceiling(2 * internal::kMaxCached);
  static constexpr int kShift = 4;  // objects are aligned to 16 bytes

  size_t slot_count_ = 0;
  const void* slots_[kSlots] = {};
};

// Not on the stack, which may be short; used by one thread, once.
ObjectSet seen;
void* objects[internal::kMaxCached];
bool checking = false;

// The first damage that was found: locks are held then.
struct {
  const char* sentence;
  const void* object;
} found = {};

MALLOW_COLD void Found(const char* sentence, const void* object) {
  if (found.sentence == nullptr) found = {sentence, object};
}
MALLOW_COLD void FoundTwice(const void* object) { Found("free(): the block was freed twice", object); }

// So many are on the stack, and compared with each other: a small program does not touch the memory of the others.
constexpr size_t kFew = 32;

// REQUIRES: the lock of the class's central list is held.
void CheckObject(const void* object, SizeClass size_class) {
  if (PageMap::ClassOf(object) != size_class) return FoundTwice(object);
  const Span* span = PageMap::SpanOf(PageOf(object));
  const int index = span->IndexOf(object);
  if (index < 0) return Found("free(): the pointer is inside a block, not at its start", object);
  if ((span->free_bits[index / 64] >> (index % 64) & 1) != 0) FoundTwice(object);
}

void CheckFewTwice(void* const* checked, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (checked[k] == checked[i]) FoundTwice(checked[i]);
    }
  }
}

MALLOW_NOINLINE void CheckManyTwice(void* const* checked, size_t count) {
  seen.Clear(count);
  for (size_t i = 0; i < count; ++i) {
    if (!seen.Add(checked[i])) FoundTwice(checked[i]);
  }
}

void CheckBin(const ThreadCache& cache, SizeClass size_class) {
  const size_t length = cache.Length(size_class);
  if (length == 0) return;
  void* few[kFew];
  void** const copy = length <= kFew ? few : objects;
  // None, if a handler frees meanwhile and they do not fit any more.
  const size_t count = cache.CopyObjects(size_class, copy, copy == few ? kFew : internal::kMaxCached);
  // Not to be had where exit is called by a handler that interrupted malloc, or by a thread while others run on.
  const bool locked = shared_lists[size_class].central.lock().TryLock();
  if (locked) {
    for (size_t i = 0; i < count; ++i) CheckObject(copy[i], size_class);
    shared_lists[size_class].central.lock().Unlock();
  }
  copy == few ? CheckFewTwice(copy, count) : CheckManyTwice(copy, count);
}

void CheckBins(const ThreadCache& cache) {
  for (SizeClass c = 1; c < kClassCount; ++c) CheckBin(cache, c);
}

}  // namespace

void CheckBeforeExit() {
  const ThreadCache* cache = thread_words.cache;
  if (cache == nullptr || cache == kThreadEnded) return;
  // Somebody else is at it, or a handler has interrupted this.
  if (__atomic_exchange_n(&checking, true, __ATOMIC_RELAXED)) return;
  CheckBins(*cache);
  thread_registry.TryLookAtWarm(CheckBins);
  if (found.sentence != nullptr) DieOfDamage(found.sentence, found.object);
}

}  // namespace mallow::heap
