// malloc, free, calloc, realloc, their __libc_ names, and C23's sized free.
#include <cstddef>
#include <cstring>

#include "api/export.h"
#include "api/hit.h"
#include "api/own.h"
#include "api/slow.h"

using namespace mallow::api;

extern "C" {
void* memalign(size_t alignment, size_t bytes);
size_t malloc_usable_size(void* p);
char* strdup(const char* text);
unsigned mallow_region_begin(const char* name);
int mallow_is_recording(void);
}

namespace {

// In a static link the whole surface comes with malloc, or libc's malloc would come for the rest.
[[gnu::used]] const void* const kWholeSurface[] = {
    reinterpret_cast<const void*>(memalign),
    reinterpret_cast<const void*>(malloc_usable_size),
    reinterpret_cast<const void*>(strdup),
    // Programs refer to these and what stands beside them weakly, which asks for no part of an archive.
    reinterpret_cast<const void*>(mallow_region_begin),
    reinterpret_cast<const void*>(mallow_is_recording),
};

// Apart from realloc, so that a block that stays saves no registers.
MALLOW_NOINLINE void* Reallocate(void* p, size_t bytes) {
  void* q = mallow::heap::TryReallocate(p, bytes);
  if (MALLOW_LIKELY(q != nullptr)) return q;
  return SlowRealloc(p, bytes);
}

}  // namespace

extern "C" {

MALLOW_EXPORT void* malloc(size_t bytes) {
  void* p = HitAllocate(bytes);
  if (MALLOW_LIKELY(p != nullptr)) return p;
  return SlowMalloc(bytes);
}

MALLOW_EXPORT void free(void* p) { FreeBlock(p); }

MALLOW_EXPORT void* calloc(size_t count, size_t bytes) {
  size_t total;
  if (MALLOW_UNLIKELY(__builtin_mul_overflow(count, bytes, &total))) return SlowCalloc(count, bytes);
  void* p = HitAllocate(total);
  if (MALLOW_LIKELY(p != nullptr)) return memset(p, 0, total);
  return SlowCalloc(count, bytes);
}

MALLOW_EXPORT void* realloc(void* p, size_t bytes) {
  if (MALLOW_LIKELY(mallow::heap::StaysInPlace(p, bytes))) return p;
  return Reallocate(p, bytes);
}

MALLOW_EXPORT void free_sized(void* p, size_t bytes) { FreeSizedBlock(p, bytes); }
MALLOW_EXPORT void free_aligned_sized(void* p, size_t, size_t bytes) { FreeSizedBlock(p, bytes); }

MALLOW_ALIAS(malloc) void* __libc_malloc(size_t);
MALLOW_ALIAS(free) void __libc_free(void*);
MALLOW_ALIAS(calloc) void* __libc_calloc(size_t, size_t);
MALLOW_ALIAS(realloc) void* __libc_realloc(void*, size_t);
// In libc since 1990 and withdrawn in 2017: programs built before still ask for cfree@GLIBC_2.2.5, which an unversioned
// symbol answers.
MALLOW_ALIAS(free) void cfree(void*);

}  // extern "C"

MALLOW_OWN(malloc);
MALLOW_OWN(calloc);
MALLOW_OWN(realloc);
MALLOW_OWN(free);
