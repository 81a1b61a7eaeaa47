// pc -> rule, filled on first use. One per thread.
//
// Open addressing in mapped pages, by cache lines: the pcs of a small piece of code, which are wanted together, lie in one.
// Grows with the number of different pcs that the thread's stacks had and starts anew when it would become unreasonably
// large. Thread-compatible; all zero is empty.
#pragma once

#include "base/config.h"
#include "base/hash.h"
#include "os/memory.h"
#include "record/rule.h"

namespace mallow::record {

// A pc as frames and rules are keyed: bit 47 tells that a signal interrupted the frame there.
using FrameKey = uint64_t;
inline constexpr unsigned kFrameKeyBits = 48;
inline constexpr FrameKey kInterrupted = FrameKey{1} << 47;
inline constexpr FrameKey kFrameKeyMask = (FrameKey{1} << kFrameKeyBits) - 1;
// Addresses of code are below.
inline constexpr uintptr_t kPcLimit = uintptr_t{1} << 47;

constexpr uintptr_t PcOf(FrameKey key) { return key & (kInterrupted - 1); }

struct RuleEntry {
  uint64_t key_and_module;  // FrameKey; above it module id + 1
  Rule rule;

  FrameKey key() const { return key_and_module & kFrameKeyMask; }
  uint32_t module() const { return static_cast<uint32_t>(key_and_module >> kFrameKeyBits); }
};
static_assert(sizeof(RuleEntry) == 16);

class RuleCache {
 public:
  // Null if there is none.
  MALLOW_ALWAYS_INLINE const RuleEntry* Find(FrameKey key) const {
    if (MALLOW_UNLIKELY(entries_ == nullptr)) return nullptr;
    const size_t line = LineOf(key), place = PlaceOf(key);
    for (size_t i = 0;; ++i) {
      const RuleEntry& entry = At(line, place, i);
      if (MALLOW_LIKELY(((entry.key_and_module ^ key) & kFrameKeyMask) == 0)) return &entry;
      if (entry.key_and_module == 0) return nullptr;
    }
  }

  // Keeps the rule, if there is memory.
  void Add(const RuleEntry& entry) {
    if ((count_ + 1) * 2 > capacity_ && !MakeRoom()) return;
    Insert(entry);
  }

  void Clear() {
    if (entries_ != nullptr) os::Unmap(entries_, capacity_ * sizeof(RuleEntry));
    *this = RuleCache();
  }

 private:
  static constexpr size_t kFirstCapacity = 1024;
  static constexpr size_t kLargestCapacity = size_t{1} << 20;

  static constexpr unsigned kPieceBits = 8;  // of code
  static constexpr size_t kLineEntries = 4;
  static_assert(kLineEntries * sizeof(RuleEntry) == kCacheLineBytes);

  // The first entry of the line where a search begins,
  MALLOW_ALWAYS_INLINE size_t LineOf(FrameKey key) const {
    return HashToTop(key >> kPieceBits) >> shift_ & ~(kLineEntries - 1);
  }
  // and which entry of the line is the first to be looked at.
  static MALLOW_ALWAYS_INLINE size_t PlaceOf(FrameKey key) { return HashToTop(key) >> 62; }
  // The `n`th entry of a search: all of a line come before those of the next one.
  MALLOW_ALWAYS_INLINE RuleEntry& At(size_t line, size_t place, size_t n) const {
    constexpr size_t kWithin = kLineEntries - 1;
    return entries_[((line + (n & ~kWithin)) & mask_) | ((place ^ n) & kWithin)];
  }

  void Insert(const RuleEntry& entry) {
    const size_t line = LineOf(entry.key()), place = PlaceOf(entry.key());
    size_t i = 0;
    while (At(line, place, i).key_and_module != 0) ++i;
    At(line, place, i) = entry;
    ++count_;
  }

  MALLOW_COLD bool MakeRoom() {
    RuleCache larger;
    larger.capacity_ = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
    if (larger.capacity_ > kLargestCapacity) {
      Clear();
      larger.capacity_ = kFirstCapacity;
    }
    larger.mask_ = larger.capacity_ - 1;
    larger.shift_ = 64 - static_cast<unsigned>(__builtin_ctzll(larger.capacity_));
    void* pages = os::Map(nullptr, larger.capacity_ * sizeof(RuleEntry));
    if (pages == nullptr) return false;
    larger.entries_ = static_cast<RuleEntry*>(pages);
    for (size_t i = 0; i < capacity_; ++i) {
      if (entries_[i].key_and_module != 0) larger.Insert(entries_[i]);
    }
    Clear();
    *this = larger;
    return true;
  }

  RuleEntry* entries_ = nullptr;
  size_t mask_ = 0;
  size_t count_ = 0;
  size_t capacity_ = 0;
  unsigned shift_ = 0;
};

}  // namespace mallow::record
