// The nodes of the stack table in the order in which they were made, with their links: first child, next sibling.
//
// Nodes that were made together are walked together, so most of a path lies in few cache lines: often a child lies right
// behind its parent, and says so. Blocks of nodes, so that
// nothing moves when it grows; all but the first are huge pages where the system has them.
//
// Thread safety: MakeRoom under the table's lock; At for any node whose id the reader was given by an acquire.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.h"
#include "os/memory.h"
#include "record/unwind.h"

namespace mallow::record {

class NodeArray {
 public:
  struct Links {
    uint64_t key;
    // Of a node of a function: the stack id with its origin bit.
    std::atomic<NodeId> first_child;
    std::atomic<uint32_t> sibling_and_place;  // the next sibling's id; kBehindParent

    NodeId next_sibling() const { return sibling_and_place.load(std::memory_order_acquire) & ~kBehindParent; }
    // The parent is the node before this one.
    bool behind_parent() const {
      return (sibling_and_place.load(std::memory_order_acquire) & kBehindParent) != 0;
    }
  };
  static constexpr uint32_t kBehindParent = 1u << 31;
  static_assert(sizeof(Links) == 16);

  MALLOW_ALWAYS_INLINE Links& At(NodeId node) const {
    return blocks_[node / kBlockNodes].load(std::memory_order_relaxed)[node % kBlockNodes];
  }

  // Null: what has that id lies in another block.
  MALLOW_ALWAYS_INLINE const Links* Behind(NodeId node) const {
    return MALLOW_LIKELY((node + 1) % kBlockNodes != 0) ? &At(node) + 1 : nullptr;
  }

  // As if there had never been a node. What was handed out reads as zero.
  void Clear() {
    for (std::atomic<Links*>& block : blocks_) {
      Links* const links = block.load(std::memory_order_relaxed);
      if (links != nullptr && !os::Release(links, kBlockNodes * sizeof(Links)))
        block.store(nullptr, std::memory_order_relaxed);
    }
  }

  // False: no memory, or more nodes than there can be.
  bool MakeRoom(NodeId node) {
    const size_t block = node / kBlockNodes;
    if (block >= kBlocks) return false;
    if (MALLOW_LIKELY(blocks_[block].load(std::memory_order_relaxed) != nullptr)) return true;
    void* const memory = os::Map(nullptr, kBlockNodes * sizeof(Links));
    if (memory == nullptr) return false;
    if (block != 0) os::WantHugePages(memory, kBlockNodes * sizeof(Links));
    blocks_[block].store(static_cast<Links*>(memory), std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr size_t kBlockNodes = size_t{1} << 17;  // 2 MiB
  static constexpr size_t kBlocks = 128;

  std::atomic<Links*> blocks_[kBlocks] = {};
};

}  // namespace mallow::record
