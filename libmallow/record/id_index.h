// Finds ids by the hashes of what they stand for: open addressing, eight bytes for each.
//
// Invariants
//  X1  What an id stands for is complete before Put.
//  X2  When the index grows, a new array replaces the old one, of which the addresses stay: readers may still be in it. What
//      they miss there they look up again under the owner's lock.
//
// Thread safety: Find at any time; all else under the owner's lock. All zero is empty.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.h"
#include "os/memory.h"

namespace mallow::record {

class IdIndex {
 public:
  // The id of that hash for which `is_it` is true; 0: there is none.
  template <typename IsIt>
  uint32_t Find(uint32_t hash, IsIt is_it) const {
    Array* const array = array_.load(std::memory_order_acquire);
    if (array == nullptr) return 0;
    for (uint64_t i = hash;; ++i) {
      const uint64_t slot = array->slots()[i & array->mask].load(std::memory_order_acquire);
      if (slot == 0) return 0;
      if (slot >> 32 == hash && is_it(static_cast<uint32_t>(slot))) return static_cast<uint32_t>(slot);
    }
  }

  // Keeps the array at most half full: linear probing stays short. False: no memory for one more.
  bool MakeRoom() {
    Array* const old = array_.load(std::memory_order_relaxed);
    if (old != nullptr && count_ * 2 <= old->mask) return true;
    const uint64_t slots = old == nullptr ? kFirstSlots : (old->mask + 1) * 2;
    Array* const wider = static_cast<Array*>(os::Map(nullptr, BytesOf(slots)));
    if (wider == nullptr) return old != nullptr && count_ < old->mask - old->mask / 8;
    wider->mask = slots - 1;
    for (uint64_t i = 0; old != nullptr && i <= old->mask; ++i) {
      const uint64_t slot = old->slots()[i].load(std::memory_order_relaxed);
      if (slot != 0) Insert(wider, slot);
    }
    array_.store(wider, std::memory_order_release);
    // X2. It reads as free slots from here on.
    if (old != nullptr) os::Release(old, BytesOf(old->mask + 1));
    return true;
  }

  // REQUIRES: MakeRoom, and no such id yet.
  void Put(uint32_t hash, uint32_t id) {
    Insert(array_.load(std::memory_order_relaxed), uint64_t{hash} << 32 | id);
    ++count_;
  }

  // What there was stays where it is: a thread may be late.
  void Clear() {
    Array* const array = array_.load(std::memory_order_relaxed);
    count_ = 0;
    if (array == nullptr) return;
    const uint64_t mask = array->mask;
    const bool cleared = os::Release(array, BytesOf(mask + 1));
    array->mask = mask;
    if (!cleared) array_.store(nullptr, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kFirstSlots = 1024;

  using Slot = std::atomic<uint64_t>;  // 0: free; else the hash, and below it the id
  struct Array {
    uint64_t mask;
    Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
  };
  static_assert(sizeof(Array) == sizeof(Slot));
  static size_t BytesOf(uint64_t slots) { return sizeof(Array) + slots * sizeof(Slot); }

  static void Insert(Array* array, uint64_t slot) {
    uint64_t i = slot >> 32 & array->mask;
    while (array->slots()[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & array->mask;
    array->slots()[i].store(slot, std::memory_order_release);
  }

  std::atomic<Array*> array_{nullptr};
  uint64_t count_ = 0;
};

}  // namespace mallow::record
