// Size classes: 16 bytes apart up to 128, then eight steps per doubling up to 256 KiB.
//
// So an object wastes less than 1/8 of its size above 128 bytes. Objects of a class lie side by side in spans; the
// pages of a span are chosen below so that the tail that no object fits into stays small as well. The
// whole table with its waste is in size_class.golden, which a test compares.
//
// Class 0 means "not small": large, foreign, or unknown. Everything here is a constant.
#pragma once

#include "base/bits.h"
#include "base/config.h"
#include "heap/heap.h"
#include "heap/pages.h"

namespace mallow::heap {

// As wide as an address, so that no hit path has to widen it.
using SizeClass = size_t;

inline constexpr int kFineSteps = 8;
inline constexpr size_t kFirstDoubling = 128;
inline constexpr SizeClass kClassCount =
    1 + kFirstDoubling / kMinAlignment + kFineSteps * (Log2Floor(kMaxSmallBytes) - Log2Floor(kFirstDoubling));

// Objects of one span at most: as many as its bit set has bits.
inline constexpr size_t kMaxObjectsPerSpan = 512;

struct SizeClassInfo {
  uint32_t bytes;         // size of an object
  uint16_t pages;         // of a span
  uint16_t objects;       // in a span
  uint32_t reciprocal;    // (offset * reciprocal) >> 32 == offset / bytes for every object's offset
  uint16_t max_cached;    // objects in a thread cache at most
  uint16_t first_cached;  // the same when a thread begins to use the class
};

namespace internal {

// Spans are about this long unless one object needs more: long enough that a refill with objects up to some KiB seldom needs
// a new one, short enough that one becomes wholly free again, and that a program which uses a few of a class occupies little.
inline constexpr size_t kSpanTarget = 32 * 1024;
inline constexpr size_t kFineLimit = 1024;
// Objects in a bin of a thread cache: of classes up to 1 KiB as many as make 64 KiB, of the first, where the nodes of lists
// are, twice as many; of the others 2 MiB at most.
inline constexpr size_t kMaxCached = 8191;
inline constexpr size_t kMaxCachedLong = 63;
inline constexpr size_t kMaxCachedBytes = 64 * 1024;
inline constexpr size_t kMaxCachedBytesLong = 2048 * 1024;
inline constexpr size_t kFirstCachedBytes = 4 * 1024;

constexpr uint32_t BytesOfClass(SizeClass size_class) {
  constexpr SizeClass kLinear = kFirstDoubling / kMinAlignment;
  if (size_class <= kLinear) return static_cast<uint32_t>(size_class * kMinAlignment);
  const SizeClass above = size_class - kLinear - 1;
  const size_t base = kFirstDoubling << (above / kFineSteps);
  return static_cast<uint32_t>(base + base / kFineSteps * (above % kFineSteps + 1));
}

// The shortest span from the target on whose tail is at most 1/64 of it, else the one with the least tail.
constexpr Pages PagesOfSpan(size_t bytes) {
  constexpr Pages kTries = 12;
  Pages first = PagesFor(bytes);
  if (bytes <= kSpanTarget / 2)
    first = Max<Pages>(1, Min(kSpanTarget, kMaxObjectsPerSpan * bytes) / kPageBytes);
  Pages best = 0;
  for (Pages pages = first; pages < first + kTries; ++pages) {
    const size_t span = pages * kPageBytes;
    if (span / bytes > kMaxObjectsPerSpan) break;
    if (best == 0 || (span % bytes) * best < (best * kPageBytes % bytes) * pages) best = pages;
    if (best * kPageBytes % bytes * 64 <= best * kPageBytes) break;
  }
  return best;
}

constexpr SizeClassInfo MakeClass(SizeClass size_class) {
  const size_t bytes = BytesOfClass(size_class);
  const Pages pages = PagesOfSpan(bytes);
  SizeClassInfo info = {};
  info.bytes = static_cast<uint32_t>(bytes);
  info.pages = static_cast<uint16_t>(pages);
  info.objects = static_cast<uint16_t>(pages * kPageBytes / bytes);
  info.reciprocal = static_cast<uint32_t>(((uint64_t{1} << 32) + bytes - 1) / bytes);
  info.max_cached = static_cast<uint16_t>(
      bytes == kMinAlignment ? kMaxCached
      : bytes <= kFineLimit  ? Clamp<size_t>(kMaxCachedBytes / bytes - 1, kMaxCachedLong, kMaxCached)
                             : Clamp<size_t>(kMaxCachedBytesLong / bytes, 4, kMaxCachedLong));
  info.first_cached = static_cast<uint16_t>(Clamp<size_t>(kFirstCachedBytes / bytes, 2, 32));
  return info;
}

inline constexpr int kFineShift = 4;
inline constexpr int kCoarseShift = 7;

// The class of a request: by (bytes + 15) / 16 up to 1 KiB, by (bytes + 127) / 128 above.
struct ClassesBySize {
  uint8_t fine[(kFineLimit >> kFineShift) + 1];
  uint8_t coarse[(kMaxSmallBytes >> kCoarseShift) + 1];

  // bytes <= kFineLimit
  MALLOW_ALWAYS_INLINE SizeClass OfFine(size_t bytes) const { return fine[(bytes + 15) >> kFineShift]; }
  // bytes <= kMaxSmallBytes
  MALLOW_ALWAYS_INLINE SizeClass OfCoarse(size_t bytes) const {
    return coarse[(bytes + 127) >> kCoarseShift];
  }
};

struct SizeClassTable {
  SizeClassInfo info[kClassCount] = {};
  ClassesBySize by_size = {};

  constexpr SizeClassTable() {
    for (SizeClass c = 1; c < kClassCount; ++c) info[c] = MakeClass(c);
    SizeClass c = 1;
    for (size_t i = 0; i < sizeof(by_size.fine); ++i) {
      while (info[c].bytes < i << kFineShift) ++c;
      by_size.fine[i] = static_cast<uint8_t>(c);
    }
    c = 1;
    for (size_t i = 0; i < sizeof(by_size.coarse); ++i) {
      while (info[c].bytes < i << kCoarseShift) ++c;
      by_size.coarse[i] = static_cast<uint8_t>(c);
    }
  }
};

inline constexpr SizeClassTable kSizeClasses;

}  // namespace internal

// The class of a request; bytes <= kMaxSmallBytes. A request of 0 bytes gets the smallest.
MALLOW_ALWAYS_INLINE SizeClass SizeClassOf(size_t bytes) {
  const internal::ClassesBySize& classes = internal::kSizeClasses.by_size;
  return MALLOW_LIKELY(bytes <= internal::kFineLimit) ? classes.OfFine(bytes) : classes.OfCoarse(bytes);
}

inline const SizeClassInfo& Info(SizeClass size_class) { return internal::kSizeClasses.info[size_class]; }

// So many objects fill whole cache lines, from the start of a span on.
constexpr size_t LineObjects(size_t bytes) {
  return kCacheLineBytes / Min(kCacheLineBytes, bytes & (~bytes + 1));
}

// Whether objects are so short that threads which have neighbours slow each other down.
inline bool SharesLines(SizeClass size_class) {
  const size_t bytes = Info(size_class).bytes;
  return bytes < 2 * kCacheLineBytes && bytes != kCacheLineBytes;
}

// Whether a small block stays where it is when it is to become `bytes` long: one that shrinks by less than half does,
// for moving it would cost more than it brings.
inline bool FitsInPlace(size_t block_bytes, size_t bytes) {
  return bytes <= block_bytes && bytes >= block_bytes / 2;
}

// The smallest class of at least `bytes` whose objects are all aligned to `alignment`, or 0 when there is none.
// Spans start on pages, so an object is as aligned as its size, and never more than a page for sure.
inline SizeClass AlignedSizeClassOf(size_t alignment, size_t bytes) {
  if (alignment > kPageBytes || bytes > kMaxSmallBytes) return 0;
  for (SizeClass c = SizeClassOf(Max(bytes, alignment)); c < kClassCount; ++c) {
    if (IsAligned(Info(c).bytes, alignment)) return c;
  }
  return 0;
}

}  // namespace mallow::heap
