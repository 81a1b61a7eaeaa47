#include "heap/span.h"

#include "base/bits.h"
#include "os/memory.h"

namespace mallow::heap {
namespace {

// A shorter run of free objects is not worth a system call, and what comes after it.
constexpr size_t kLeastGivenBack = 16 * 1024;

// The first object at `from` or behind it whose bit is `set`, or the number of objects.
size_t FindBit(const Span* span, size_t from, bool set) {
  const uint64_t flip = set ? 0 : ~uint64_t{0};
  while (from < span->objects) {
    const uint64_t bits = (span->free_bits[from / 64] ^ flip) >> (from % 64);
    if (bits != 0) return Min<size_t>(from + static_cast<size_t>(CountTrailingZeros(bits)), span->objects);
    from = RoundDown(from, size_t{64}) + 64;
  }
  return span->objects;
}

uintptr_t AddressOfObject(const Span* span, size_t index) {
  return reinterpret_cast<uintptr_t>(span->start()) + index * span->object_bytes;
}

// Of each run of free objects the pages of the system that it fills, if they are `least` bytes. False: there were none.
MALLOW_NOINLINE bool ReleaseRuns(const Span* span, size_t least) {
  const size_t page_bytes = os::PageSize();
  bool released = false;
  for (size_t first = FindBit(span, 0, true); first < span->objects;) {
    const size_t last = FindBit(span, first, false);
    const uintptr_t begin = RoundUp(AddressOfObject(span, first), page_bytes);
    const uintptr_t end = RoundDown(AddressOfObject(span, last), page_bytes);
    if (end >= begin + least) {
      if (!os::Release(reinterpret_cast<void*>(begin), end - begin)) break;
      released = true;
    }
    first = FindBit(span, last, true);
  }
  return released;
}

}  // namespace

void Span::GiveBackUnused() {
  const size_t more = size_t{free_objects} - given_back;
  if (more * object_bytes < kLeastGivenBack) return;
  given_back = free_objects;
  ReleaseRuns(this, kLeastGivenBack);
}

bool Span::GiveBackAll() {
  if (trimmed == free_objects || !ReleaseRuns(this, os::PageSize())) return false;
  trimmed = given_back = free_objects;
  return true;
}

}  // namespace mallow::heap
