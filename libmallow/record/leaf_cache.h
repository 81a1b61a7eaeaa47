// Where captures that were walked began: (pc, sp) -> the ways from there to a frame of the last stack.
//
// A program that allocates at many places below one long-lived frame makes the last stack's inner end change
// with every capture, while its outer part stays. An entry holds what the walk from one such place read on its way to the frame
// of the last stack where it joined. If the frame is still there, unchanged outwards, and those words hold what
// they held, the result is the entry's node. A hit notes no more than the last stack that it was
// found to join: until that one changes, its joining frame is not looked at again, only its words are.
//
// The same reasons make it exact as in stack_cache.h: pc, sp and (if live) rbp are compared, then every word that the unwind
// reads as far as the joining frame, from the inside outwards; rbp is dead at that frame, so its pc and sp are
// its whole state; from there on the last stack's own words are compared.
//
// Many ways may begin at one place, which as a rule is a wrapper of malloc. So the word that an entry found changed names, by
// its value, the slot where the search goes on, kMostHops times at most.
//
// Thread-compatible; all zero is empty.
#pragma once

#include "base/config.h"
#include "os/memory.h"
#include "record/dwarf_expression.h"
#include "record/rule_cache.h"
#include "record/unwind.h"

namespace mallow::record {

// What the client last made of a node: its business, kept beside the node so that it costs no further cache line. All zero
// at first.
struct NodeMemo {
  void* place;
  uint32_t key;
  uint32_t value;
};

struct alignas(kCacheLineBytes) LeafEntry {
  // All words lie in one range of the stack, so their places are kept as distances from sp. A cache line holds five.
  struct alignas(kCacheLineBytes) Words {
    static constexpr unsigned kCount = 5;
    uintptr_t values[kCount];
    int32_t offsets[kCount];
  };
  static constexpr unsigned kGroups = 10;
  static constexpr unsigned kMaxWords = kGroups * Words::kCount;

  FrameKey key;  // 0: empty
  uintptr_t sp;
  // The last stack for which all that follows `memo` was found to be right; then so many of its words are left to
  // compare.
  uint64_t last_stack;
  uint32_t outer_words;
  NodeId node;               // the result
  uint32_t frames_verified;  // by a hit
  uint8_t group_count;       // not 0
  bool need_bp;
  NodeMemo memo;
  // What a hit as a rule does not look at: another cache line.
  alignas(kCacheLineBytes) uintptr_t bp;  // compared if need_bp
  uint32_t home;                          // own range of the stack that holds all the words
  uint32_t join;                          // index of the frame of the last stack that it leads to,
  uintptr_t join_sp;
  NodeId join_node;  // and what that frame has to be
  Words words
      [kGroups];  // in the order in which the unwind reads them; a last group that is not full repeats its first

  bool BeginsAt(FrameKey at, uintptr_t at_sp) const { return key == at && sp == at_sp; }
};

class LeafCache {
 public:
  // Entries that a search looks at.
  static constexpr unsigned kMostHops = 4;

  // Where a search for (key, sp) begins; any start's entry may lie there, then it is beside.
  static MALLOW_ALWAYS_INLINE size_t First(FrameKey key, uintptr_t sp) { return Mix(key ^ sp << 16); }
  // Where it goes on when the entry for (key, sp) has another value at `offset`.
  static MALLOW_ALWAYS_INLINE size_t Next(size_t hash, int32_t offset, uintptr_t value) {
    return Mix(hash ^ value ^ static_cast<size_t>(offset) << 48);
  }
  // REQUIRES: ready().
  LeafEntry& At(size_t hash) const { return entries_[SlotOf(hash)]; }
  LeafEntry& AtSlot(size_t slot) const { return entries_[slot]; }
  static MALLOW_ALWAYS_INLINE size_t SlotOf(size_t hash) { return hash >> (64 - kSlotBits); }
  // Two starts that hash to one slot would drive each other out for ever: the other place of such an entry.
  LeafEntry& Beside(LeafEntry& leaf) const { return entries_[static_cast<size_t>(&leaf - entries_) ^ 1]; }

  bool ready() const { return entries_ != nullptr; }
  // False: no memory.
  bool MakeReady() {
    if (!ready()) entries_ = static_cast<LeafEntry*>(os::Map(nullptr, kSlots * sizeof(LeafEntry)));
    return ready();
  }

  void Clear() {
    if (entries_ != nullptr) os::Unmap(entries_, kSlots * sizeof(LeafEntry));
    entries_ = nullptr;
  }

 private:
  static constexpr unsigned kSlotBits = 13;
  static constexpr size_t kSlots = size_t{1} << kSlotBits;

  static MALLOW_ALWAYS_INLINE size_t Mix(size_t x) { return x * 0x9e3779b97f4a7c15u; }

  LeafEntry* entries_ = nullptr;
};

}  // namespace mallow::record
