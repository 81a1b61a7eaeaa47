// One call of an allocating function, as the recorder and the retries of operator new need it.
#pragma once

#include <cerrno>
#include <cstddef>

#include "base/bits.h"
#include "base/config.h"
#include "record/recorder.h"

namespace mallow::api {

using record::Function;

// C and POSIX count differences between pointers into one object: no object may be larger.
inline constexpr size_t kMaxBytes = PTRDIFF_MAX;

// 0: the ordinary one.
constexpr bool IsAlignment(size_t alignment) { return alignment == 0 || IsPowerOfTwo(alignment); }

constexpr bool IsNothrow(Function function) {
  return function == Function::kNewNothrow || function == Function::kNewArrayNothrow ||
         function == Function::kNewAlignedNothrow || function == Function::kNewArrayAlignedNothrow;
}

struct Call {
  record::Registers caller;  // meaningful while recording only
  Function function;
  size_t alignment;  // 0: the ordinary one
  size_t bytes;
};

// Whether a block with so many bytes and this alignment can be: other sizes are no object's, other
// alignments none at all.
constexpr bool CanBe(size_t bytes, size_t alignment) {
  return bytes <= kMaxBytes && alignment <= kMaxBytes - bytes && IsAlignment(alignment);
}

// Null, with errno at ENOMEM.
MALLOW_COLD inline void* NoMemory() {
  errno = ENOMEM;
  return nullptr;
}

MALLOW_ALWAYS_INLINE void* OrNoMemory(void* p) { return MALLOW_LIKELY(p != nullptr) ? p : NoMemory(); }

// Serves the call from the recorder or the heap. Null when there is no memory or the block cannot be.
void* Serve(const Call& call);

}  // namespace mallow::api
