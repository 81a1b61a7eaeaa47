// Memory for the heap's own structures, on pages of their own: no block of the program lies beside them.
//
// Synchronisation: the page heap's lock. Memory is handed out zeroed and never given back to the system; users keep free
// lists of what they return. What an alignment skips serves small requests: start-up touches a page less.
#pragma once

#include "base/config.h"

namespace mallow::heap {

class MetadataArena {
 public:
  constexpr MetadataArena() = default;

  // How much of it will be used. Where that is little it lies in no huge page.
  enum class Use { kDense, kSparse };

  // `alignment` is a power of two of at most 4 KiB. Null when there is no memory.
  void* Allocate(size_t bytes, size_t alignment, Use use = Use::kDense);

  // Arrays of side records. Bytes is at most kMaxArrayBytes. A returned array is not cleared when reused.
  void* AllocateArray(size_t bytes);
  void FreeArray(void* array, size_t bytes);

  static constexpr size_t kMaxArrayBytes = 16 * 1024;

  // Handed out so far, without the leaves of the page map.
  size_t bytes() const { return bytes_; }

  // What was mapped, newest first. A region stays as it is, so a walk needs no lock.
  struct Region {
    const Region* next;
    size_t bytes;  // from here on
  };
  const Region* regions() const { return regions_; }

 private:
  static constexpr size_t kBlockBytes = 1024 * 1024;
  // From so many bytes of dense memory on it lies in huge pages: a release looks at a span and at a side record, and would
  // wait for the page table where thousands of pages hold them.
  static constexpr size_t kHugeFrom = 2 * 1024 * 1024;
  static constexpr size_t kHugeBlockBytes = 4 * 1024 * 1024;
  static constexpr int kMinArrayShift = 5;
  static constexpr int kArraySizes = 10;

  struct FreeArrayLink {
    FreeArrayLink* next;
  };

  // When the system has no more: an array of a longer kind, which is of the shorter one from then on.
  void* TakeLonger(int shift);

  struct Piece {
    char* next;
    char* end;
    size_t bytes() const { return static_cast<size_t>(end - next); }
  };

  // Null: it does not fit. What it skips becomes the gap if that is shorter.
  char* TakeFrom(Piece* piece, size_t bytes, size_t alignment);
  // The piece becomes a new region, in which so many bytes fit.
  bool MapRegion(Piece* piece, size_t bytes);

  const Region* regions_ = nullptr;
  Piece rest_ = {};
  Piece gap_ = {};
  Piece sparse_ = {};
  size_t bytes_ = 0;
  size_t dense_bytes_ = 0;  // of these
  // By binary logarithm of the size.
  FreeArrayLink* free_arrays_[kArraySizes] = {};
};

}  // namespace mallow::heap
