// The course of the process in a bounded number of samples: how much was allocated and how much lived, and which
// stacks changed most in between.
//
// A thread takes a sample after so many of its own events, or when so long ago somebody took the last one. When the
// samples are full every second one goes, and both measures double: the resolution is always some thousandth of the
// whole. Where little happens few samples are taken.
//
// Thread safety: any thread; who finds another one at it goes on without a sample. Never waits.
#pragma once

#include <emmintrin.h>

#include <cstdint>

#include "base/config.h"
#include "base/spinlock.h"
#include "record/image_format.h"

namespace mallow::record {

struct ThreadRecorder;

// The stacks by which a thread's live bytes changed most since its last sample: those with the most bytes that came
// and went, as far as so few places tell them. A stack that has none gets one when as much came and went of all such
// stacks as of the least that has: in proportion to its bytes, and seldom where there are many.
class Changes {
 public:
  MALLOW_ALWAYS_INLINE void Add(uint32_t stack, int64_t bytes) {
    const int place = PlaceOf(stack);
    if (place == kPlaces) return AddOther(stack, bytes);
    net_[place] += bytes;
    volume_[place] += Volume(bytes);
  }
  // The greatest changes first; the others, and those left over, are 0.
  void Report(TimelineSample::Change (&greatest)[4]) const;
  void Clear() { *this = {}; }

 private:
  static constexpr int kPlaces = 8;

  static constexpr uint64_t Volume(int64_t bytes) {
    return bytes < 0 ? -static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  }
  // kPlaces: none.
  int PlaceOf(uint32_t stack) const {
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(stack));
    const __m128i* const stacks = reinterpret_cast<const __m128i*>(stacks_);
    const auto same = [=](int i) { return _mm_cmpeq_epi32(_mm_loadu_si128(stacks + i), wanted); };
    const __m128i found = _mm_packs_epi16(_mm_packs_epi32(same(0), same(1)), _mm_setzero_si128());
    return __builtin_ctz(static_cast<unsigned>(_mm_movemask_epi8(found)) | 1u << kPlaces);
  }
  // Of a stack that has none.
  MALLOW_ALWAYS_INLINE void AddOther(uint32_t stack, int64_t bytes) {
    others_ += Volume(bytes);
    if (MALLOW_UNLIKELY(others_ >= least_)) Replace(stack, bytes);
  }
  void Replace(uint32_t stack, int64_t bytes);

  uint32_t stacks_[kPlaces];  // 0: free
  int64_t net_[kPlaces];
  uint64_t volume_[kPlaces];
  uint64_t others_;  // volume of stacks without a place since one was given a place
  uint64_t least_;   // no place has less
};

class Timeline {
 public:
  // Of another image file: begins anew.
  void StartIn(Header* header);
  Spinlock& lock() { return lock_; }
  // Whether a thread takes a sample that had so many events since its last one.
  bool IsDue(uint64_t events, uint32_t now_ms) const {
    return events >= __atomic_load_n(&header_->timeline_events, __ATOMIC_RELAXED) ||
           now_ms >= __atomic_load_n(&next_ms_, __ATOMIC_RELAXED);
  }
  // Takes it, unless another thread is at one.
  MALLOW_COLD void Take(ThreadRecorder& thread);

 private:
  // With the lock held: no other session begins meanwhile.
  void AddSample(ThreadRecorder& thread);
  TimelineSample* At(uint32_t item);
  void Halve();

  Header* header_ = nullptr;
  TimelineSample* pages_[kTimelineSamples / kCountersPerPage] = {};
  uint32_t next_ms_ = 0;
  bool full_ = false;  // no room for another page
  Spinlock lock_{LockRank::kRecorder};
};

}  // namespace mallow::record
