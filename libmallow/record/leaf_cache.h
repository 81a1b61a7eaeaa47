// Where captures that were walked began: (pc, sp) -> the way from there to a frame of the last stack.
//
// A program that allocates at many places below one long-lived frame makes the last stack's inner end change
// with every capture, while its outer part stays. An entry holds what the walk from one such place read on its way to the frame
// of the last stack where it joined. If the frame is still there, unchanged outwards, and those words hold what
// they held, the result is the entry's node. A hit changes nothing.
//
// The same reasons make it exact as in stack_cache.h: pc, sp and (if live) rbp are compared, then every word that the unwind
// reads as far as the joining frame, from the inside outwards; rbp is dead at that frame, so its pc and sp are
// its whole state; from there on the last stack's own words are compared.
//
// Direct-mapped. Thread-compatible; all zero is empty.
#pragma once

#include "base/config.h"
#include "os/memory.h"
#include "record/dwarf_expression.h"
#include "record/rule_cache.h"
#include "record/unwind.h"

namespace mallow::record {

struct LeafEntry {
  static constexpr unsigned kMaxWords = 19;

  FrameKey key;  // 0: empty
  uintptr_t sp;
  uintptr_t bp;   // compared if need_bp
  uint32_t home;  // own range of the stack that holds all the words
  uint8_t word_count;
  bool need_bp;
  uint32_t join;     // index of the frame of the last stack that it leads to,
  NodeId join_node;  // and what that frame has to be
  uintptr_t join_sp;
  NodeId node;                 // the result
  uint32_t frames_verified;    // by a hit
  StackWord words[kMaxWords];  // the later, the earlier the unwind reads them
};

class LeafCache {
 public:
  // The slot for a start at (key, sp), which may hold another start's entry; null as long as none was ever made.
  MALLOW_ALWAYS_INLINE const LeafEntry* At(FrameKey key, uintptr_t sp) const {
    return MALLOW_LIKELY(entries_ != nullptr) ? &entries_[SlotOf(key, sp)] : nullptr;
  }

  // The slot, to be filled; null without memory.
  LeafEntry* Slot(FrameKey key, uintptr_t sp) {
    if (entries_ == nullptr) entries_ = static_cast<LeafEntry*>(os::Map(nullptr, kSlots * sizeof(LeafEntry)));
    return entries_ == nullptr ? nullptr : &entries_[SlotOf(key, sp)];
  }

  void Clear() {
    if (entries_ != nullptr) os::Unmap(entries_, kSlots * sizeof(LeafEntry));
    entries_ = nullptr;
  }

 private:
  static constexpr unsigned kSlotBits = 10;
  static constexpr size_t kSlots = size_t{1} << kSlotBits;

  static MALLOW_ALWAYS_INLINE size_t SlotOf(FrameKey key, uintptr_t sp) {
    return (key ^ sp << 16) * 0x9e3779b97f4a7c15u >> (64 - kSlotBits);
  }

  LeafEntry* entries_ = nullptr;
};

}  // namespace mallow::record
