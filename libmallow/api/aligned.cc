// The functions that align, with glibc 2.36's rules for bad alignments.
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>

#include "api/export.h"
#include "api/hit.h"
#include "api/slow.h"

using namespace mallow::api;

namespace {

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

constexpr size_t kLargestAlignment = SIZE_MAX / 2 + 1;

template <Function function>
MALLOW_COLD void* BadAlignment() {
  RecordedFailure<function>();
  errno = EINVAL;
  return nullptr;
}

}  // namespace

extern "C" {

// An alignment that is no power of two is raised to the next one; one that cannot be raised is EINVAL.
MALLOW_EXPORT void* memalign(size_t alignment, size_t bytes) {
  if (alignment > kLargestAlignment) return BadAlignment<Function::kMemalign>();
  return SlowAligned<Function::kMemalign>(std::bit_ceil(alignment), bytes);
}

// glibc 2.36: as memalign.
MALLOW_EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
  if (alignment > kLargestAlignment) return BadAlignment<Function::kAlignedAlloc>();
  return SlowAligned<Function::kAlignedAlloc>(std::bit_ceil(alignment), bytes);
}

// Failing, it leaves *result as it was; errno too, but for ENOMEM, which is also set, as by glibc.
MALLOW_EXPORT int posix_memalign(void** result, size_t alignment, size_t bytes) {
  if (alignment < sizeof(void*) || !std::has_single_bit(alignment)) {
    const int saved = errno;
    RecordedFailure<Function::kPosixMemalign>();
    errno = saved;
    return EINVAL;
  }
  void* p = SlowAligned<Function::kPosixMemalign>(alignment, bytes);
  if (p == nullptr) return ENOMEM;
  *result = p;
  return 0;
}

MALLOW_EXPORT void* valloc(size_t bytes) { return SlowAligned<Function::kValloc>(PageBytes(), bytes); }

// Whole pages, at least one.
MALLOW_EXPORT void* pvalloc(size_t bytes) { return SlowAligned<Function::kPvalloc>(PageBytes(), bytes); }

MALLOW_ALIAS(memalign) void* __libc_memalign(size_t, size_t);
MALLOW_ALIAS(posix_memalign) int __posix_memalign(void**, size_t, size_t);
MALLOW_ALIAS(valloc) void* __libc_valloc(size_t);
MALLOW_ALIAS(pvalloc) void* __libc_pvalloc(size_t);

}  // extern "C"
