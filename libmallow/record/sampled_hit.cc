// What nearly every call comes to while only samples are recorded, in one piece: a small block of the thread's cache that
// is no sample. Everything else is left to others, before anything of it has happened.
#include "heap/block.h"
#include "heap/record_map.h"
#include "record/counting.h"
#include "record/process.h"
#include "record/recorder.h"
#include "record/sampling.h"

namespace mallow::record {
namespace {

MALLOW_ALWAYS_INLINE void* TryAllocateNoSample(size_t bytes) {
  if (MALLOW_UNLIKELY(bytes > heap::kMaxSmallBytes || !g_sampler.PassesBy(bytes))) return nullptr;
  void* const p = heap::TryTakeClosed(bytes).start;
  if (MALLOW_UNLIKELY(p == nullptr)) return nullptr;
  g_sampler.PassBy(bytes);
  Sampler::NoteBirth(p);
  return p;
}

// Side records are made where there is a sample: many spans have none. False, too, of what the record map does not know.
MALLOW_ALWAYS_INLINE bool IsKnownAsNoSample(const void* p, heap::SizeClass size_class) {
  const heap::RecordedObject object = heap::RecordMap::OfObject<sizeof(Tag)>(p, size_class);
  return object.size_class != 0 ? !IsOurs(*reinterpret_cast<const Tag*>(object.record))
                                : heap::RecordMap::HasNone(p);
}

// The class of a block that may be freed without a look at more; 0: there may be more to it. By ld.so's frees objects
// are known that were unloaded.
MALLOW_ALWAYS_INLINE heap::SizeClass ClassOfNoSample(const void* p, uintptr_t pc) {
  const heap::SizeClass size_class = heap::PageMap::ClassInWindow(p);
  if (MALLOW_UNLIKELY(size_class == 0 || g_process.IsLibc(pc))) return 0;
  return MALLOW_LIKELY(IsKnownAsNoSample(p, size_class)) ? size_class : 0;
}

template <typename... Size>
MALLOW_ALWAYS_INLINE void FreeNoSampleOr(void* p, uintptr_t pc, void (*otherwise)(void* p, Size...),
                                         Size... bytes) {
  const heap::SizeClass size_class = ClassOfNoSample(p, pc);
  if (MALLOW_UNLIKELY(size_class == 0)) return otherwise(p, bytes...);
  Sampler::NoteDeath();
  heap::FreeOfClassClosed(p, size_class);
}

}  // namespace

void* AllocateNoSample(size_t bytes, void* (*otherwise)(size_t bytes)) {
  void* const p = TryAllocateNoSample(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : otherwise(bytes);
}

void FreeNoSample(void* p, void (*otherwise)(void* p)) {
  FreeNoSampleOr(p, reinterpret_cast<uintptr_t>(__builtin_return_address(0)), otherwise);
}

void FreeNoSampleSized(void* p, size_t bytes, void (*otherwise)(void* p, size_t bytes)) {
  FreeNoSampleOr(p, reinterpret_cast<uintptr_t>(__builtin_return_address(0)), otherwise, bytes);
}

}  // namespace mallow::record
