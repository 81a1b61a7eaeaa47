// The functions that align, under whatever name, with glibc 2.36's rules for bad alignments.
#pragma once

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "api/slow.h"
#include "base/bits.h"

namespace mallow::api {

inline size_t SystemPageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

inline constexpr size_t kLargestAlignment = SIZE_MAX / 2 + 1;

template <Function function>
MALLOW_COLD void* BadAlignment() {
  RecordedFailure<function>();
  errno = EINVAL;
  return nullptr;
}

// The same for posix_memalign, which tells it by its result.
MALLOW_COLD inline int BadAlignmentInto() {
  const int saved = errno;
  RecordedFailure<Function::kPosixMemalign>();
  errno = saved;
  return EINVAL;
}

// An alignment that is no power of two is raised to the next one; one that cannot be raised is EINVAL.
template <Function function>
MALLOW_ALWAYS_INLINE void* AlignedUp(size_t alignment, size_t bytes) {
  if (alignment > kLargestAlignment) return BadAlignment<function>();
  return SlowAligned<function>(std::bit_ceil(alignment), bytes);
}

// Failing, it leaves *result as it was; errno too, but for ENOMEM, which is also set, as by glibc.
MALLOW_ALWAYS_INLINE int AlignedInto(void** result, size_t alignment, size_t bytes) {
  if (alignment < sizeof(void*) || !IsPowerOfTwo(alignment)) return BadAlignmentInto();
  return SlowAlignedInto(result, alignment, bytes);
}

}  // namespace mallow::api
