#include "heap/metadata_arena.h"

#include "base/bits.h"
#include "base/check.h"
#include "os/memory.h"

namespace mallow::heap {

void* MetadataArena::Allocate(size_t bytes, size_t alignment, Use use) {
  const bool apart = use == Use::kSparse && dense_bytes_ >= kHugeFrom;
  Piece* const piece = apart ? &sparse_ : &rest_;
  char* start = apart ? nullptr : TakeFrom(&gap_, bytes, alignment);
  while (start == nullptr && (start = TakeFrom(piece, bytes, alignment)) == nullptr) {
    if (!MapRegion(piece, bytes + alignment)) return nullptr;
  }
  bytes_ += bytes;
  if (use == Use::kDense) dense_bytes_ += bytes;
  return start;
}

MALLOW_NOINLINE char* MetadataArena::TakeFrom(Piece* piece, size_t bytes, size_t alignment) {
  char* const start = reinterpret_cast<char*>(RoundUp(reinterpret_cast<uintptr_t>(piece->next), alignment));
  if (piece->next == nullptr || start + bytes > piece->end) return nullptr;
  const Piece skipped = {piece->next, start};
  piece->next = start + bytes;
  if (skipped.bytes() > gap_.bytes()) gap_ = skipped;
  return start;
}

MALLOW_NOINLINE bool MetadataArena::MapRegion(Piece* piece, size_t bytes) {
  const bool much = dense_bytes_ >= kHugeFrom;
  const size_t wished = much && piece == &rest_ ? kHugeBlockBytes : kBlockBytes;
  const size_t least = RoundUp(sizeof(Region) + bytes, os::PageSize());
  size_t whole = Max(least, RoundUp(os::AheadOfUse(wished), os::PageSize()));
  void* start = os::Map(nullptr, whole);
  if (start == nullptr && whole > least) start = os::Map(nullptr, whole = least);
  if (start == nullptr) return false;
  if (much) {
    // A system may give them unasked.
    const auto advise = piece == &rest_ ? &os::WantHugePages : &os::RefuseHugePages;
    advise(start, whole);
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
