// One call of an allocating function, as the recorder and the retries of operator new need it.
#pragma once

#include <cerrno>
#include <cstddef>

#include "base/config.h"
#include "record/recorder.h"

namespace mallow::api {

using record::Function;

// C and POSIX count differences between pointers into one object: no object may be larger.
inline constexpr size_t kMaxBytes = PTRDIFF_MAX;

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

// Null, with errno at ENOMEM.
MALLOW_COLD inline void* NoMemory() {
  errno = ENOMEM;
  return nullptr;
}

MALLOW_ALWAYS_INLINE void* OrNoMemory(void* p) { return MALLOW_LIKELY(p != nullptr) ? p : NoMemory(); }

// Serves the call from the recorder or the heap. Null when there is no memory or bytes > kMaxBytes.
void* Serve(const Call& call);

}  // namespace mallow::api
