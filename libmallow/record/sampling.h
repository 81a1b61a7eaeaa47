// Sampling: not every call is recorded, but blocks at a mean distance of so many bytes.
//
// The distance from one sample to the next is exponential, so whether a block of s bytes is sampled depends on nothing
// that came before: p(s) = 1 - exp(-(s + kExtraBytes) / mean). The extra bytes let small blocks, and those of none, be
// seen. A sampled block stands for 1 / p blocks like it; sums of such weights are unbiased, and so is the sum of
// (1 - p) / p^2 as their variance (Horvitz and Thompson). Both are kept for each stack, of births and of deaths, whose
// difference is that of the blocks that live: what is known of a block at its death is what was known at its birth.
//
// Thread safety: Takes from any thread, which counts in words of its own; the others as counting.h. A call that is not
// sampled takes no lock, captures nothing, and writes to nothing that is shared.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/config.h"
#include "record/image_format.h"

namespace mallow::record {

class MappedFile;
struct ThreadRecorder;
struct Tag;

class Sampler {
 public:
  static constexpr uint64_t kExtraBytes = 16;
  // Distances fit into 63 bits.
  static constexpr uint64_t kMostMean = uint64_t{1} << 40;

  // Before a session starts. 0: every call is recorded.
  void SetMean(uint64_t bytes) { mean_ = bytes < kMostMean ? bytes : kMostMean; }
  bool on() const { return mean_ != 0; }
  // Says so in a new image file. `session` tells threads that what they counted before is void.
  void StartIn(MappedFile* file, uint64_t session);
  // In a fork child, of its one thread: it must not sample what its parent and its brothers sample.
  static void ForgetInChild() { t_state = {}; }

  // Whether a block of so many bytes that has just been born is a sample.
  MALLOW_ALWAYS_INLINE bool Takes(size_t bytes) {
    State& state = t_state;
    state.left -= static_cast<int64_t>(bytes + kExtraBytes);
    if (MALLOW_LIKELY(state.left >= 0 && state.session == session_)) return false;
    return TakesSlow(state, bytes);
  }

  // The same in two steps, where the block may yet turn out not to be there: whether it is no sample for sure, and that it
  // was none.
  MALLOW_ALWAYS_INLINE bool PassesBy(size_t bytes) const {
    return MALLOW_LIKELY(t_state.left >= static_cast<int64_t>(bytes + kExtraBytes) &&
                         t_state.session == session_);
  }
  MALLOW_ALWAYS_INLINE void PassBy(size_t bytes) {
    t_state.left -= static_cast<int64_t>(bytes + kExtraBytes);
  }

  // What the thread's recorder has to know of calls that were no samples: the latest block, and how many events.
  MALLOW_ALWAYS_INLINE static void NoteBirth(const void* p) {
    t_state.newest = p;
    t_state.events++;
  }
  MALLOW_ALWAYS_INLINE static void NoteDeath() { t_state.events++; }
  // Before a sample is counted.
  static void Catch(ThreadRecorder& thread);

  // After a sample was counted.
  void WeighBirth(ThreadRecorder& thread, uint32_t stack, const void* p, size_t bytes) const;
  void WeighDeath(ThreadRecorder& thread, const Tag& tag) const;

 private:
  struct State {
    int64_t left;  // bytes until the next sample
    uint64_t session;
    uint64_t random;
    const void* newest;
    uint64_t events;
  };
  static MALLOW_THREAD_LOCAL State t_state;

  MALLOW_COLD bool TakesSlow(State& state, size_t bytes);
  int64_t Distance(State& state) const;

  uint64_t mean_ = 0;
  uint64_t session_ = 0;
};

extern Sampler g_sampler;

// 1 - exp(-x) and -log(u), to about 14 digits; x >= 0, 0 < u <= 1. There is no libm under a malloc.
double OneMinusExp(double x);
double MinusLog(double u);

}  // namespace mallow::record
