// The course of the process in a bounded number of samples: how much was allocated and how much lived, and which
// stacks changed most in between.
//
// A thread takes a sample after so many of its own events, or when so long ago somebody took the last one. When the
// samples are full every second one goes, and both measures double: the resolution is always some thousandth of the
// whole. Where little happens few samples are taken.
//
// Thread safety: any thread; who finds another one at it goes on without a sample. Never waits.
#pragma once

#include <cstdint>

#include "base/spinlock.h"
#include "record/image_format.h"

namespace mallow::record {

struct ThreadRecorder;

// The stacks by which a thread's live bytes changed most since its last sample: those with the most bytes that came
// and went, as far as so few places tell them.
class Changes {
 public:
  void Add(uint32_t stack, int64_t bytes);
  // The greatest changes first; the others, and those left over, are 0.
  void Report(TimelineSample::Change (&greatest)[4]) const;
  void Clear() { *this = {}; }

 private:
  static constexpr int kPlaces = 8;

  uint32_t stacks_[kPlaces];  // 0: free
  int64_t net_[kPlaces];
  uint64_t volume_[kPlaces];
};

class Timeline {
 public:
  // Of another image file: begins anew.
  void StartIn(Header* header);
  // After the thread looked at the clock.
  void Pass(ThreadRecorder& thread);

 private:
  MALLOW_COLD void Take(ThreadRecorder& thread);
  TimelineSample* At(uint32_t item);
  void Halve();

  Header* header_ = nullptr;
  TimelineSample* pages_[kTimelineSamples / kCountersPerPage] = {};
  uint32_t next_ms_ = 0;
  bool full_ = false;  // no room for another page
  Spinlock lock_{LockRank::kRecorder};
};

}  // namespace mallow::record
