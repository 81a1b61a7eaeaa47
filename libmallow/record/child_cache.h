// (parent node, frame) -> node: the thread's own memory of what the shared node table said.
//
// Direct-mapped; a collision only costs a look-up in the table. Thread-compatible; all zero is empty.
#pragma once

#include "base/config.h"
#include "os/memory.h"
#include "record/rule_cache.h"
#include "record/unwind.h"

namespace mallow::record {

class ChildCache {
 public:
  // The child of `parent` for a frame as RuleEntry names it. kRoot when the table is full.
  MALLOW_ALWAYS_INLINE NodeId Child(NodeId parent, uint64_t key_and_module, const NodeTable& table) {
    if (MALLOW_LIKELY(slots_ != nullptr)) {
      const Slot& slot = slots_[SlotOf(parent, key_and_module)];
      if (MALLOW_LIKELY(slot.key_and_module == key_and_module && slot.parent == parent)) return slot.node;
    }
    return Ask(parent, key_and_module, table);
  }

  void Clear() {
    if (slots_ != nullptr) os::Unmap(slots_, kSlots * sizeof(Slot));
    slots_ = nullptr;
  }

 private:
  struct Slot {
    uint64_t key_and_module;  // 0: empty, as no frame has pc 0
    NodeId parent, node;
  };
  static constexpr unsigned kSlotBits = 12;
  static constexpr size_t kSlots = size_t{1} << kSlotBits;

  static MALLOW_ALWAYS_INLINE size_t SlotOf(NodeId parent, uint64_t key_and_module) {
    return (key_and_module ^ uint64_t{parent} << 20) * 0x9e3779b97f4a7c15u >> (64 - kSlotBits);
  }

  MALLOW_NOINLINE NodeId Ask(NodeId parent, uint64_t key_and_module, const NodeTable& table) {
    const FrameKey key = key_and_module & kFrameKeyMask;
    const uint64_t tag = key & kInterrupted ? kTagSignalFrame : kTagReturnAddress;
    const auto module = static_cast<uint32_t>(key_and_module >> kFrameKeyBits);
    const NodeId node = table.child(table.self, parent, tag << 56 | PcOf(key), module);
    if (node == kRoot) return kRoot;
    if (slots_ == nullptr) slots_ = static_cast<Slot*>(os::Map(nullptr, kSlots * sizeof(Slot)));
    if (slots_ != nullptr) slots_[SlotOf(parent, key_and_module)] = {key_and_module, parent, node};
    return node;
  }

  Slot* slots_ = nullptr;
};

}  // namespace mallow::record
