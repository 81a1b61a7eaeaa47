// pc -> rule, filled on first use. One per thread.
//
// Open addressing in mapped pages, by cache lines: the pcs of a small piece of code, which are wanted together, lie in one.
// Grows with the number of different pcs that the thread's stacks had and starts anew when it would become unreasonably
// large.
//
// A walk cannot ask for a rule before it has the one before, and most come from behind the second cache. So there are
// chains besides, one in a cache line: the rules of a pc and of the three callers that it had the last time. In a compiler
// every third or fourth caller is another one than the last time: a walk waits half as often.
//
// Thread-compatible; all zero is empty.
#pragma once

#include <emmintrin.h>

#include "base/config.h"
#include "base/hash.h"
#include "os/file.h"
#include "os/memory.h"
#include "record/rule.h"
#include "record/unwind.h"

namespace mallow::record {

// A pc as frames and rules are keyed: bit 47 tells that a signal interrupted the frame there.
using FrameKey = uint64_t;
inline constexpr unsigned kFrameKeyBits = 48;
inline constexpr FrameKey kInterrupted = FrameKey{1} << 47;
inline constexpr FrameKey kFrameKeyMask = (FrameKey{1} << kFrameKeyBits) - 1;
// Addresses of code are below.
inline constexpr uintptr_t kPcLimit = uintptr_t{1} << 47;

constexpr uintptr_t PcOf(FrameKey key) { return key & (kInterrupted - 1); }
// Where the frame's instruction lies for the unwind tables: within the call, if the pc is a return address.
constexpr uintptr_t AddressOf(FrameKey key) { return PcOf(key) - (key & kInterrupted ? 0 : 1); }

// A frame, and its rule. The id lies where these leave room.
struct RuleEntry {
  static constexpr unsigned kIdBits = 64 - kFrameKeyBits;  // of which are above the key
  static_assert(kIdBits + 8 - Rule::kFlagBits == kFrameIdBits);

  uint64_t key_and_id;
  Rule rule;

  static RuleEntry Of(FrameKey key, FrameId id, Rule rule) {
    rule.flags = static_cast<uint8_t>(rule.flags | id >> kIdBits << Rule::kFlagBits);
    return {key | uint64_t{id} << kFrameKeyBits, rule};
  }
  FrameKey key() const { return key_and_id & kFrameKeyMask; }
  FrameId id() const {
    const FrameId above = rule.flags >> Rule::kFlagBits;
    return static_cast<FrameId>(key_and_id >> kFrameKeyBits) | above << kIdBits;
  }
};
static_assert(sizeof(RuleEntry) == 16);

class RuleCache {
 public:
  // Null if there is none.
  MALLOW_ALWAYS_INLINE const RuleEntry* Find(FrameKey key) const {
    if (MALLOW_UNLIKELY(entries_ == nullptr)) return nullptr;
    for (size_t line = LineOf(key);; line = LineAfter(line)) {
      const RuleEntry* const entries = entries_ + line;
      if (const unsigned found = Found(entries, key); MALLOW_LIKELY(found != 0))
        return entries + __builtin_ctz(found);
      if (entries[kLineEntries - 1].key_and_id == 0) return nullptr;
    }
  }

  // Keeps the rule, if there is memory.
  void Add(const RuleEntry& entry) {
    if ((count_ + 1) * 2 > capacity_ && !MakeRoom()) return;
    Insert(entry);
  }

  // Where the chain of a key lies, if there is one: else it begins with another key, or with 0. Null: nothing was added yet.
  // Until the next Add.
  MALLOW_ALWAYS_INLINE RuleEntry* ChainOf(FrameKey key) const {
    if (MALLOW_UNLIKELY(entries_ == nullptr)) return nullptr;
    return entries_ - ChainedOf(capacity_) + LineAt(HashToTop(key) >> (shift_ + kChainedBits));
  }
  // Nothing follows in the chain; of null, too.
  static MALLOW_ALWAYS_INLINE bool IsEndOfChain(const RuleEntry* next) {
    return reinterpret_cast<uintptr_t>(next) % kCacheLineBytes == 0;
  }
  // Makes one there, of this rule alone.
  static void BeginChain(RuleEntry* chain, const RuleEntry& rule) {
    *chain++ = rule;
    while (!IsEndOfChain(chain)) *chain++ = {};
  }
  // One goes on from `next` as another one does from its beginning.
  static MALLOW_ALWAYS_INLINE void GoOnAs(RuleEntry* next, const RuleEntry* other) {
    while (!IsEndOfChain(next)) *next++ = *other++;
  }

  void Clear() {
    if (entries_ != nullptr) os::Unmap(entries_ - ChainedOf(capacity_), BytesOf(capacity_));
    *this = RuleCache();
  }

 private:
  static constexpr size_t kFirstCapacity = 1024;
  static constexpr size_t kLargestCapacity = size_t{1} << 20;

  static constexpr unsigned kPieceBits = 8;  // of code
  static constexpr size_t kLineEntries = 4;
  static_assert(kLineEntries * sizeof(RuleEntry) == kCacheLineBytes);

  // Chains have a quarter of the table's room: few pcs begin one.
  static constexpr unsigned kChainedBits = 2;
  static constexpr size_t ChainedOf(size_t capacity) { return capacity >> kChainedBits; }
  static constexpr size_t BytesOf(size_t capacity) {
    return (ChainedOf(capacity) + capacity) * sizeof(RuleEntry);
  }

  // The first entry of the line where a search begins. A line is filled from there on, and then the next one.
  MALLOW_ALWAYS_INLINE size_t LineOf(FrameKey key) const {
    return LineAt(HashToTop(key >> kPieceBits) >> shift_);
  }
  static MALLOW_ALWAYS_INLINE size_t LineAt(size_t entry) { return entry & ~(kLineEntries - 1); }
  MALLOW_ALWAYS_INLINE size_t LineAfter(size_t line) const { return (line + kLineEntries) & mask_; }

  // Which of a line's entries have the key, a bit for each. All four at once: where in its line an entry lies is as good
  // as random, which a branch would guess wrong every other time.
  static MALLOW_ALWAYS_INLINE unsigned Found(const RuleEntry* line, FrameKey key) {
    constexpr int kAbove = 64 - kFrameKeyBits;
    const __m128i* const entries = reinterpret_cast<const __m128i*>(line);
    const __m128i wanted = _mm_set1_epi64x(static_cast<int64_t>(key << kAbove));
    // Halves of the keys that are the wanted one's.
    const auto same = [=](int first) {
      const __m128i two = _mm_unpacklo_epi64(entries[first], entries[first + 1]);
      return _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_slli_epi64(two, kAbove), wanted));
    };
    const __m128 low = same(0), high = same(2);
    const __m128 even = _mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0));
    const __m128 odd = _mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1));
    return static_cast<unsigned>(_mm_movemask_ps(_mm_and_ps(even, odd)));
  }

  void Insert(const RuleEntry& entry) {
    size_t line = LineOf(entry.key()), i = 0;
    while (entries_[line + i].key_and_id != 0) {
      if (++i < kLineEntries) continue;
      line = LineAfter(line);
      i = 0;
    }
    entries_[line + i] = entry;
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
    void* pages = os::Map(nullptr, BytesOf(larger.capacity_));
    if (pages == nullptr) return false;
    // What comes lies all over it, and each page would be read before it is written: two faults.
    os::Populate(pages, BytesOf(larger.capacity_));
    larger.entries_ = static_cast<RuleEntry*>(pages) + ChainedOf(larger.capacity_);
    for (size_t i = 0; i < capacity_; ++i) {
      if (entries_[i].key_and_id != 0) larger.Insert(entries_[i]);
    }
    Clear();
    *this = larger;
    return true;
  }

  RuleEntry* entries_ = nullptr;  // behind the chains
  size_t mask_ = 0;
  size_t count_ = 0;
  size_t capacity_ = 0;
  unsigned shift_ = 0;
};

}  // namespace mallow::record
