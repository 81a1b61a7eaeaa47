// An array of which nothing moves when it grows, because it grows by blocks. They ask for no huge pages: what a virtual
// machine's host took back costs milliseconds each, and what lies together is made together.
//
// Thread safety: MakeRoom and Clear under the owner's lock; At for any item whose number the reader was given by an acquire.
// All zero is empty.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.h"
#include "os/memory.h"

namespace mallow::record {

template <typename Item, size_t kMostItems>
class BlockArray {
 public:
  MALLOW_ALWAYS_INLINE Item& At(size_t item) const {
    return blocks_[item / kBlockItems].load(std::memory_order_relaxed)[item % kBlockItems];
  }
  // Null: there is no room for that one yet. `item` may be one more than those that the reader knows.
  MALLOW_ALWAYS_INLINE Item* Next(size_t item) const {
    return MALLOW_LIKELY(item % kBlockItems != 0) || HasRoom(item) ? &At(item) : nullptr;
  }

  // As if there had never been an item. What was handed out reads as zero.
  void Clear() {
    for (std::atomic<Item*>& block : blocks_) {
      Item* const items = block.load(std::memory_order_relaxed);
      if (items != nullptr && !os::Release(items, kBlockBytes))
        block.store(nullptr, std::memory_order_relaxed);
    }
  }

  // False: no memory, or more items than there can be.
  bool MakeRoom(size_t item) {
    const size_t block = item / kBlockItems;
    if (block >= kBlocks) return false;
    if (MALLOW_LIKELY(HasRoom(item))) return true;
    void* const memory = os::Map(nullptr, kBlockBytes);
    if (memory == nullptr) return false;
    blocks_[block].store(static_cast<Item*>(memory), std::memory_order_release);
    return true;
  }

 private:
  static constexpr size_t kBlockBytes = size_t{256} << 10;
  static constexpr size_t kBlockItems = kBlockBytes / sizeof(Item);
  static constexpr size_t kBlocks = kMostItems / kBlockItems;
  static_assert(kBlocks * kBlockItems == kMostItems);

  bool HasRoom(size_t item) const {
    return item < kMostItems && blocks_[item / kBlockItems].load(std::memory_order_acquire) != nullptr;
  }

  std::atomic<Item*> blocks_[kBlocks] = {};
};

}  // namespace mallow::record
