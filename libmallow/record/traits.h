// What is usual of a stack: how its calls follow one another, of what size they are, who frees their blocks and when.
//
// Not every block is looked at, because that takes a hundred instructions and another cache line: of the calls of a
// stack in a shard the first 32 are, then one in sixteen, which counts for sixteen, and beyond the 4096th one in 128:
// what is usual of so many is known by then, and they are the calls that cost. Which ones is a sequence that no
// period of the program keeps step with, and a block that was looked at when it was born is when it dies.
// So the figures are exact as far as the 32nd call, and unbiased estimates beyond.
//
// Majority votes are those of Boyer and Moore: if more than half of n voters named one value it is the candidate;
// its share lies between lead / n and (n + lead) / 2n.
//
// Thread safety: as counting.h.
#pragma once

#include <cstdint>

#include "base/config.h"
#include "record/image_format.h"
#include "record/thread_recorder.h"

namespace mallow::record {

// How many blocks one stands for; what is kept of it in two bits of the block's side record.
enum class Study : uint32_t { kNone = 0, kYoung = 1, kSampled = 2, kRare = 3 };

inline constexpr uint64_t kYoungCalls = 32;
inline constexpr uint64_t kManyCalls = 4096;
// Rows of so many calls are noted when they end, those that are shorter if a call of theirs is looked at.
inline constexpr uint32_t kLongRun = 8;
inline constexpr uint32_t kSampledWeight = 16;
inline constexpr uint32_t kRareWeight = 128;

constexpr uint32_t WeightOf(Study study) {
  return study == Study::kRare ? kRareWeight : study == Study::kSampled ? kSampledWeight : 1;
}

// Of the stack's call with this number, from 1. The multiples of the golden ratio are spread evenly, and no period
// divides them.
constexpr Study StudyOf(uint64_t call) {
  if (call <= kYoungCalls) return Study::kYoung;
  const uint32_t place = static_cast<uint32_t>(call) * 0x9e37'79b9u;
  if (place >= 1u << 28) return Study::kNone;
  if (call <= kManyCalls) return Study::kSampled;
  return place < 1u << 25 ? Study::kRare : Study::kNone;
}
static_assert((uint64_t{1} << 32) / (1u << 28) == kSampledWeight);
static_assert((uint64_t{1} << 32) / (1u << 25) == kRareWeight);

// As they would be in WideTraits. REQUIRES: they are not there.
WideTraits Widened(const Traits& traits);

void NoteBirth(ThreadRecorder& thread, StackId stack, StackId born_before, uint64_t bytes, Study study);
// At the end of a run of kLongRun calls or more.
void NoteLongRun(ThreadRecorder& thread, StackId stack);
// `life`: events of the thread from the birth to this one, 1 at the least; 0 for a block of another thread. `pc`: the
// return address of the call that releases the block.
void NoteDeath(ThreadRecorder& thread, StackId stack, StackId freed_before, uint64_t life, uint64_t bytes,
               uintptr_t pc, Study study);
void NoteRealloc(ThreadRecorder& thread, StackId stack, StackId old_stack, uint64_t old_bytes, uint64_t bytes,
                 bool moved, bool copied);

}  // namespace mallow::record
