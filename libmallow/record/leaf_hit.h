// The comparing of words by which a capture is answered without a walk (stack_cache.h), inline in the two places where
// nearly every capture ends.
#pragma once

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

// Compares words[0, count), which all lie in the own range, from the last to the first: 1 + index of the first that
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

// Compares the words of an entry, from the inside. False: one changed, and `hash` is where the search goes on.
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE bool IsUnchanged(const LeafEntry& leaf, size_t* hash) {
  if (kMutant == Mutant::kLeafWordsNotVerified) return true;
  const LeafEntry::Words* words = leaf.words();
  const LeafEntry::Words* const end = words + leaf.group_count;
  do {
    for (unsigned i = 0; i < LeafEntry::Words::kCount; ++i) {
      const uintptr_t value = Load(LeafEntry::AddressOf(leaf.sp, words->places[i]));
      if (MALLOW_LIKELY(value == words->values[i])) continue;
      *hash = LeafCache::Next(*hash, words->places[i], value);
      return false;
    }
  } while (++words != end);
  return true;
}

MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE LeafEntry* CaptureContext::TryLeaf(uintptr_t pc, uintptr_t sp,
                                                                           uintptr_t bp) const {
  if (MALLOW_UNLIKELY(generation_ != ModuleGeneration()) && kMutant != Mutant::kGenerationIgnored)
    return nullptr;
  if (MALLOW_UNLIKELY(!leaves_.ready())) return nullptr;
  size_t hash = LeafCache::First(pc, sp);
  LeafEntry* leaf;
  unsigned hops = LeafCache::kMostHops;
  do {
    leaf = leaves_.At(hash);
    if (MALLOW_UNLIKELY(leaf == nullptr || !leaf->BeginsAt(pc, sp) || !IsInOwnRange(*leaf))) return nullptr;
    if (MALLOW_UNLIKELY(leaf->need_bp) && leaf->bp != bp && kMutant != Mutant::kLeafBpNotCompared)
      return nullptr;
    if (MALLOW_LIKELY(IsUnchanged(*leaf, &hash))) break;
  } while (--hops != 0);
  if (MALLOW_UNLIKELY(hops == 0 || leaf->join >= frames_.size())) return nullptr;
  const Frame& join = frames_[leaf->join];
  if (MALLOW_UNLIKELY(join.node != leaf->join_node ||
                      join.sp != LeafEntry::AddressOf(sp, leaf->join_place)) &&
      kMutant != Mutant::kLeafJoinNotCompared)
    return nullptr;
  if (MALLOW_UNLIKELY(join.need_bp()) && kMutant != Mutant::kLeafJoinBpIgnored) return nullptr;
  return MALLOW_LIKELY(FirstChanged(words_.data(), join.words()) == 0) ? leaf : nullptr;
}

}  // namespace mallow::record
