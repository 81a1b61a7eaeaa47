// What nearly every call comes to while only samples are recorded, in one piece: a small block of the thread's cache that
// is no sample. Everything else is left to others, before anything of it has happened.
#include "heap/block.h"
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

// Side records are made where there is a sample: most spans have none.
MALLOW_ALWAYS_INLINE bool IsNoSampleOf(const heap::Span& span, const void* p) {
  const char* const records = __atomic_load_n(&span.records, __ATOMIC_ACQUIRE);
  if (MALLOW_LIKELY(records == nullptr)) return true;
  const uint64_t offset = static_cast<uint64_t>(static_cast<const char*>(p) - span.start());
  return !IsOurs(reinterpret_cast<const Tag*>(records)[offset * span.reciprocal >> 32]);
}

// The class of a block that may be freed without a look at more; 0: there may be more to it. By ld.so's frees objects
// are known that were unloaded.
MALLOW_ALWAYS_INLINE heap::SizeClass ClassOfNoSample(const void* p, uintptr_t pc) {
  const heap::SizeClass size_class = heap::PageMap::ClassInWindow(p);
  if (MALLOW_UNLIKELY(size_class == 0 || g_process.IsLibc(pc))) return 0;
  return MALLOW_LIKELY(IsNoSampleOf(*heap::PageMap::SpanOf(heap::PageOf(p)), p)) ? size_class : 0;
}

}  // namespace

void* AllocateNoSample(size_t bytes, void* (*otherwise)(size_t bytes)) {
  void* const p = TryAllocateNoSample(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : otherwise(bytes);
}

void FreeNoSample(void* p, void (*otherwise)(void* p)) {
  const heap::SizeClass size_class =
      ClassOfNoSample(p, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  if (MALLOW_UNLIKELY(size_class == 0)) return otherwise(p);
  Sampler::NoteDeath();
  heap::FreeOfClassClosed(p, size_class);
}

}  // namespace mallow::record
