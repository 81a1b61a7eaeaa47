// Sized delete off the hit path: the size of a large block is checked.
//
// Of a small one it is not: `delete` through a base without a virtual destructor gives a wrong one in programs that run
// well on glibc, and the size is not needed. A large block whose size is wrong is rare enough to be taken for what it is.
#include "api/slow.h"
#include "base/check.h"
#include "heap/large.h"

namespace mallow::api {
namespace {

// A block that was resized in place, or that an alignment made large, may have more pages than its size asks for.
bool MayHaveSize(const heap::Span* span, size_t bytes) {
  const size_t usable = span->pages * heap::kPageBytes;
  return heap::LargePagesFor(bytes) == span->pages || (bytes <= usable && bytes > usable / 2);
}

MALLOW_ALWAYS_INLINE void CheckSize(const void* p, size_t bytes) {
  const heap::Span* span = heap::LargeSpanAt(p);
  if (MALLOW_UNLIKELY(span != nullptr && !MayHaveSize(span, bytes))) {
    DieAt("delete: the block has another size than the one that is given", p);
  }
}

}  // namespace

void SlowFreeSized(void* p, size_t bytes) {
  CheckSize(p, bytes);
  SlowFree(p);
}

void OtherFreeSized(void* p, size_t bytes) {
  CheckSize(p, bytes);
  OtherFree(p);
}

}  // namespace mallow::api
