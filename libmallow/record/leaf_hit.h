// The comparing of words by which a capture is answered without a walk (stack_cache.h), inline in the two places where
// nearly every capture ends.
#pragma once

#include <emmintrin.h>
#include <string.h>

#include "base/config.h"
#include "record/leaf_cache.h"
#include "record/module_generation.h"
#include "record/mutant.h"
#include "record/stack_cache.h"

namespace mallow::record {

// The last stack's words begin with so many that never change, so that they can be compared by fours.
inline constexpr uint32_t kPaddingWords = 3;
inline constexpr uintptr_t kPaddingValue = 0;

MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE uintptr_t Load(uintptr_t address) {
  return *reinterpret_cast<const uintptr_t*>(address);
}

// Compares words[0, count), which all can be read, from the last to the first: 1 + index of the first that
// changed, 0 if none did.
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE uint32_t FirstChanged(const StackWord* words, uint32_t count) {
  const StackWord* const outermost = words + kPaddingWords;
  for (const StackWord* end = words + count; end > outermost; end -= kPaddingWords + 1) {
    if (MALLOW_UNLIKELY(Load(end[-1].address) != end[-1].value)) return static_cast<uint32_t>(end - words);
    if (MALLOW_UNLIKELY(Load(end[-2].address) != end[-2].value))
      return static_cast<uint32_t>(end - words) - 1;
    if (MALLOW_UNLIKELY(Load(end[-3].address) != end[-3].value))
      return static_cast<uint32_t>(end - words) - 2;
    if (MALLOW_UNLIKELY(Load(end[-4].address) != end[-4].value))
      return static_cast<uint32_t>(end - words) - 3;
  }
  return 0;
}

using TwoWords = uint64_t __attribute__((vector_size(16)));

MALLOW_ALWAYS_INLINE bool IsZero(TwoWords words) {
  const __m128i zero = _mm_cmpeq_epi8(reinterpret_cast<__m128i>(words), _mm_setzero_si128());
  return _mm_movemask_epi8(zero) == 0xffff;
}

// The words at two places, the second of which is the next one if they are a pair: then they are one load.
template <bool paired>
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE TwoWords LoadTwo(uintptr_t sp, const uint16_t* places) {
  const uintptr_t first = LeafEntry::AddressOf(sp, places[0]);
  if constexpr (paired)
    return reinterpret_cast<TwoWords>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(first)));
  return TwoWords{Load(first), Load(LeafEntry::AddressOf(sp, places[1]))};
}

// What differs from the words of a group: two are compared at a time.
template <bool paired>
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE TwoWords ChangesOf(const LeafEntry::Words& words, uintptr_t sp) {
  static_assert(LeafEntry::Words::kCount == 6);
  const TwoWords* const values = reinterpret_cast<const TwoWords*>(words.values);
  const TwoWords changes = (LoadTwo<paired>(sp, words.places) ^ values[0]) |
                           (LoadTwo<paired>(sp, words.places + 2) ^ values[1]) |
                           (LoadTwo<paired>(sp, words.places + 4) ^ values[2]);
  return paired && Is(Mutant::kLeafPairsHalfVerified) ? changes & TwoWords{0, ~uint64_t{0}} : changes;
}

template <bool paired>
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE bool AreUnchanged(const LeafEntry::Words* words, unsigned group_count,
                                                          uintptr_t sp) {
  // Most entries that are not the right one differ there.
  if (MALLOW_UNLIKELY(!IsZero(ChangesOf<paired>(*words, sp)))) return false;
  if (Is(Mutant::kLeafEndNotVerified)) return true;
  const LeafEntry::Words* const end = words + group_count;
  TwoWords changes{};
  while (++words != end) changes |= ChangesOf<paired>(*words, sp);
  return IsZero(changes);
}

// Whether all words of the entry are what they were.
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE bool IsUnchanged(const LeafEntry& leaf) {
  if (Is(Mutant::kLeafWordsNotVerified)) return true;
  if (MALLOW_LIKELY(leaf.groups == 1)) return IsZero(ChangesOf<false>(*leaf.words(), leaf.sp));
  return leaf.paired() ? AreUnchanged<true>(leaf.words(), leaf.group_count(), leaf.sp)
                       : AreUnchanged<false>(leaf.words(), leaf.group_count(), leaf.sp);
}

// The word is the first that an unwind from there reads, too; unless the code there is another one by now.
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE size_t CaptureContext::FirstHash(uintptr_t pc, uintptr_t sp) const {
  const size_t hash = LeafCache::First(pc, sp);
  const uint32_t place = wrappers_.PlaceAt(pc);
  const uintptr_t address = LeafEntry::AddressOf(sp, place);
  if (place == 0 || MALLOW_UNLIKELY(!memory_.InOwnRange(address))) return hash;
  return LeafCache::Next(hash, place, Load(address));
}

// Whether the frame where the entry joins is there in the last stack; then the entry remembers where.
MALLOW_ALWAYS_INLINE bool CaptureContext::FindJoin(LeafEntry& leaf) const {
  if (MALLOW_UNLIKELY(leaf.join >= frames_.size())) return false;
  const Frame& join = frames_[leaf.join];
  if (MALLOW_UNLIKELY(join.node != leaf.join_node ||
                      join.sp != LeafEntry::AddressOf(leaf.sp, leaf.join_place)) &&
      !Is(Mutant::kLeafJoinNotCompared))
    return false;
  // At a frame with that node it is live if it was: that follows from the rules of the path.
  if (join.need_bp() && (leaf.join_bp == LeafEntry::kDead || join.bp != leaf.BpAtJoin()) &&
      !Is(Mutant::kLeafJoinBpIgnored))
    return false;
  const uint32_t words = join.words();
  if (MALLOW_UNLIKELY(words > LeafEntry::kMostJoinWords)) return false;
  leaf.join_words = static_cast<uint16_t>(words);
  leaf.words()->joined_in = last_stack_;
  return true;
}

template <typename Start>
LeafEntry* CaptureContext::SearchFrom(Start start) {
  return start.context().Search(start.pc(), start.sp(), start.bp());
}

template <typename Start>
LeafEntry* CaptureContext::ForgetGuessOf(Start start, LeafEntry& leaf) {
  return start.context().ForgetGuess(leaf);
}

template <typename Start>
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE LeafEntry* CaptureContext::TryLeaf(Start start) {
  CaptureContext& context = start.context();
  if (MALLOW_UNLIKELY(context.leaf_generation_ != ModuleGeneration()) &&
      (!Is(Mutant::kGenerationIgnored) || context.leaf_generation_ == 0))
    return nullptr;
  // An entry of this start whose words are unchanged is right wherever it lies.
  LeafEntry* leaf = context.guess_;
  if (MALLOW_UNLIKELY(!context.IsOfStart(*leaf, start))) {
    leaf = context.leaves_.At(context.FirstHash(start.pc(), start.sp()));
    if (leaf != nullptr && !context.IsOfStart(*leaf, start)) leaf = nullptr;
  }
  if (MALLOW_UNLIKELY(leaf == nullptr || !IsUnchanged(*leaf))) {
    leaf = SearchFrom(start);
    if (MALLOW_UNLIKELY(leaf == nullptr)) return nullptr;
  }
  if (MALLOW_UNLIKELY(leaf->words()->joined_in != context.last_stack_) && !context.FindJoin(*leaf))
    return ForgetGuessOf(start, *leaf);
  return MALLOW_LIKELY(FirstChanged(context.words_.data(), leaf->join_words) == 0)
             ? leaf
             : ForgetGuessOf(start, *leaf);
}

}  // namespace mallow::record
