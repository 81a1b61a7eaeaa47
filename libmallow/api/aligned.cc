// memalign and its family.
#include "api/aligned.h"

#include "api/export.h"

using namespace mallow::api;

extern "C" {

MALLOW_EXPORT void* memalign(size_t alignment, size_t bytes) {
  return AlignedUp<Function::kMemalign>(alignment, bytes);
}

// glibc 2.36: as memalign.
MALLOW_EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
  return AlignedUp<Function::kAlignedAlloc>(alignment, bytes);
}

MALLOW_EXPORT int posix_memalign(void** result, size_t alignment, size_t bytes) {
  return AlignedInto(result, alignment, bytes);
}

MALLOW_EXPORT void* valloc(size_t bytes) { return SlowAligned<Function::kValloc>(SystemPageBytes(), bytes); }

// Whole pages, at least one.
MALLOW_EXPORT void* pvalloc(size_t bytes) {
  return SlowAligned<Function::kPvalloc>(SystemPageBytes(), bytes);
}

MALLOW_ALIAS(memalign) void* __libc_memalign(size_t, size_t);
MALLOW_ALIAS(posix_memalign) int __posix_memalign(void**, size_t, size_t);
MALLOW_ALIAS(valloc) void* __libc_valloc(size_t);
MALLOW_ALIAS(pvalloc) void* __libc_pvalloc(size_t);

}  // extern "C"
