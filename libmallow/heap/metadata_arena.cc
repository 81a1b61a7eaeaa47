#include "heap/metadata_arena.h"

#include "base/bits.h"
#include "base/check.h"
#include "os/memory.h"

namespace mallow::heap {

void* MetadataArena::Allocate(size_t bytes, size_t alignment) {
  char* start = TakeFrom(&gap_, bytes, alignment);
  if (start == nullptr) start = TakeFrom(&rest_, bytes, alignment);
  if (start == nullptr) {
    const size_t wished = bytes_ < kHugeFrom ? kBlockBytes : kHugeBlockBytes;
    if (!MapRegion(&rest_, bytes + alignment, wished)) return nullptr;
    start = TakeFrom(&rest_, bytes, alignment);
  }
  bytes_ += bytes;
  return start;
}

void* MetadataArena::AllocateSparse(size_t bytes, size_t alignment) {
  if (bytes_ < kHugeFrom) return Allocate(bytes, alignment);
  char* start = TakeFrom(&sparse_, bytes, alignment);
  if (start == nullptr) {
    if (!MapRegion(&sparse_, bytes + alignment, kBlockBytes)) return nullptr;
    start = TakeFrom(&sparse_, bytes, alignment);
  }
  bytes_ += bytes;
  return start;
}

char* MetadataArena::TakeFrom(Piece* piece, size_t bytes, size_t alignment) {
  char* const start = reinterpret_cast<char*>(RoundUp(reinterpret_cast<uintptr_t>(piece->next), alignment));
  if (piece->next == nullptr || start + bytes > piece->end) return nullptr;
  const Piece skipped = {piece->next, start};
  piece->next = start + bytes;
  if (skipped.bytes() > gap_.bytes()) gap_ = skipped;
  return start;
}

bool MetadataArena::MapRegion(Piece* piece, size_t bytes, size_t wished) {
  const size_t least = RoundUp(sizeof(Region) + bytes, os::PageSize());
  size_t whole = Max(least, RoundUp(os::AheadOfUse(wished), os::PageSize()));
  void* start = os::Map(nullptr, whole);
  if (start == nullptr && whole > least) start = os::Map(nullptr, whole = least);
  if (start == nullptr) return false;
  if (piece == &sparse_) {
    // A system may give them unasked.
    os::RefuseHugePages(start, whole);
  } else if (whole >= kHugeBlockBytes) {
    os::WantHugePages(start, whole);
  }
  Region* const region = static_cast<Region*>(start);
  *region = {regions_, whole};
  regions_ = region;
  *piece = {reinterpret_cast<char*>(region + 1), static_cast<char*>(start) + whole};
  return true;
}

void* MetadataArena::AllocateArray(size_t bytes) {
  const int shift = Max(kMinArrayShift, Log2Ceiling(bytes));
  FreeArrayLink*& list = free_arrays_[shift - kMinArrayShift];
  MALLOW_DCHECK(shift - kMinArrayShift < kArraySizes);
  if (list == nullptr) {
    void* fresh = Allocate(size_t{1} << shift, Min<size_t>(size_t{1} << shift, kCacheLineBytes));
    return fresh != nullptr ? fresh : TakeLonger(shift);
  }
  FreeArrayLink* array = list;
  list = array->next;
  return array;
}

void* MetadataArena::TakeLonger(int shift) {
  for (int i = shift - kMinArrayShift + 1; i < kArraySizes; ++i) {
    if (FreeArrayLink* array = free_arrays_[i]) {
      free_arrays_[i] = array->next;
      return array;
    }
  }
  return nullptr;
}

void MetadataArena::FreeArray(void* array, size_t bytes) {
  FreeArrayLink*& list = free_arrays_[Max(kMinArrayShift, Log2Ceiling(bytes)) - kMinArrayShift];
  FreeArrayLink* link = static_cast<FreeArrayLink*>(array);
  link->next = list;
  list = link;
}

}  // namespace mallow::heap
