// Where captures that were walked began: (pc, sp) -> the ways from there to a frame of the last stack.
//
// A program that allocates at many places below one long-lived frame makes the last stack's inner end change
// with every capture, while its outer part stays. An entry holds what the walk from one such place read on its way to the frame
// of the last stack where it joined. If that frame is still there, unchanged outwards, and those words hold what
// they held, the result is the entry's node.
//
// The same reasons make it exact as in stack_cache.h: pc, sp and (if live) rbp are compared, then every word that the unwind
// reads as far as the joining frame, from the inside outwards. So pc and sp at that frame are what they were, and, if it is
// live there, rbp: one of the words restored it, or it is that of the start. These are the frame's whole state, which the last
// stack's frame has to have, too; from there on the last stack's own words are compared.
//
// Many ways may begin at one place, which as a rule is a wrapper of malloc. So the word that an entry found changed names, by
// its value, the position where the search goes on, kMostHops times at most; with wrappers.h the first word does from the
// start. Before it begins, the entry that followed the
// newest one the last time is tried: it is right for two captures of three in a compiler, and has been fetched.
//
// A program that walks trees comes to such a place in more ways than there is room for, but has few from a call to its caller.
// So an entry serves, too, where its own words lead to a frame of the last stack that has other callers than then: its frames
// go below that one, and from then on it is an entry of that.
//
// Thread-compatible; all zero is empty.
#pragma once

#include <string.h>

#include "base/config.h"
#include "base/hash.h"
#include "os/memory.h"
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
  // All words lie above the one below sp, which is the return address itself, in one range of the stack. So their places
  // are kept as distances from that one, in words: never 0. A cache line holds six. Read as the head of an entry they
  // have a key that no code has: its upper bits are the fourth place.
  struct alignas(kCacheLineBytes) Words {
    static constexpr unsigned kCount = 6;
    uint16_t places[kCount];
    // In the first group: the last stack (see CaptureContext) in which the frame where the entry joins was looked up.
    uint32_t joined_in;
    uintptr_t values[kCount];
  };
  static constexpr unsigned kMostGroups = 19;  // where every frame saves rbp it takes two words
  static constexpr unsigned kMaxWords = kMostGroups * Words::kCount;
  static constexpr uintptr_t kFarthest = uintptr_t{UINT16_MAX} * sizeof(uintptr_t);
  static constexpr uint32_t kMostJoinWords = UINT16_MAX;  // the same for frames

  FrameKey key;  // 0: no entry begins in this line
  uintptr_t sp;
  uintptr_t bp;  // compared if need_bp
  NodeMemo memo;
  NodeId node;  // the result
  // The frame of the last stack that it leads to: its index, how many of the last stack's words are from there outwards, and
  // what that frame has to be.
  uint16_t join;
  uint16_t join_words;  // as of joined_in
  NodeId join_node;
  uint32_t next;        // the entry that was hit after this one the last time, by bytes: a guess
  uint32_t home;        // where all the words lie, and the start (stack_memory.h)
  uint16_t join_place;  // of its sp
  // How many, not 0; with kPaired if all words are pairs of neighbours, as where functions keep rbp: a frame's saved rbp,
  // and its return address above.
  uint8_t groups;
  static constexpr uint8_t kPaired = 0x80;
  bool need_bp : 1;
  // Where rbp at the frame that it leads to comes from: from the word with that number, from the start, or it is dead there.
  uint8_t join_bp : 7;
  static constexpr uint8_t kFromStart = 126, kDead = 127, kJoinBpMask = 127;

  // Behind it: in the order in which the unwind reads them, but the lower one of a pair first; a last group that is not full
  // repeats its first word or pair.
  const Words* words() const { return reinterpret_cast<const Words*>(this + 1); }
  Words* words() { return reinterpret_cast<Words*>(this + 1); }
  // The word at a place of what begins at `at_sp`.
  static constexpr uintptr_t AddressOf(uintptr_t at_sp, uint32_t place) {
    return at_sp - sizeof(uintptr_t) + place * sizeof(uintptr_t);
  }
  // At the frame that it leads to. REQUIRES: it is live there.
  uintptr_t BpAtJoin() const {
    return join_bp == kFromStart ? bp : words()[join_bp / Words::kCount].values[join_bp % Words::kCount];
  }
  unsigned group_count() const { return groups & ~unsigned{kPaired}; }
  bool paired() const { return (groups & kPaired) != 0; }
  bool BeginsAt(FrameKey at, uintptr_t at_sp) const { return key == at && sp == at_sp; }
};
static_assert(sizeof(LeafEntry) == kCacheLineBytes && offsetof(LeafEntry, key) == 0);
static_assert(sizeof(LeafEntry::Words) == kCacheLineBytes);
static_assert(offsetof(LeafEntry::Words, values) == 16);
static_assert(kPcLimit <= uint64_t{1} << (3 * 16));  // where the fourth place begins
static_assert(LeafEntry::kMaxWords <= LeafEntry::kFromStart);

// Entries lie one behind the other, in the order in which they were made, and when there is no more room the oldest are
// overwritten from the first on. So of each line that is the head of an entry the words that follow are its own, and who
// comes to a line by a slot or a guess that is late finds a whole entry, or a key that no code has.
class LeafCache {
 public:
  // Entries that a search looks at.
  static constexpr unsigned kMostHops = 4;

  // No search goes on there.
  static constexpr size_t kNowhere = 0;

  // Where a search for (key, sp) begins.
  static MALLOW_ALWAYS_INLINE size_t First(FrameKey key, uintptr_t sp) { return HashToTop(key ^ sp << 16); }
  // Where it goes on when the entry there has another value at `place` than this one.
  static MALLOW_ALWAYS_INLINE size_t Next(size_t hash, uint32_t place, uintptr_t value) {
    return HashToTop(hash ^ value ^ size_t{place} << 48);
  }

  bool ready() const { return slots_ != nullptr; }

  // Those that follow REQUIRE ready().

  // What lies there: an entry, of whichever start, or none, with a key that no code has; null: nothing.
  MALLOW_ALWAYS_INLINE LeafEntry* At(size_t hash) const {
    const uint32_t position = PositionOf(hash);
    size_t slot = SlotOf(position);
    if (slots_[slot].position != position && slots_[slot ^= 1].position != position) return nullptr;
    LeafEntry* const entry = lines_ + slots_[slot].line;
    if (entry == nullptr) __builtin_unreachable();  // or the caller asks again
    return entry;
  }
  // Room for an entry of (key, sp) there, which is not filled in. Every entry may have moved.
  LeafEntry* MakeRoomAt(size_t hash, FrameKey key, uintptr_t sp, unsigned group_count) {
    if (LeafEntry* const there = At(hash); there != nullptr && there->BeginsAt(key, sp)) {
      if (there->group_count() >= group_count) return there;
      there->key = 0;
    }
    if (driven_out_ > slot_count() / 2) Grow();
    const uint32_t line = TakeLines(1 + group_count);
    Put({PositionOf(hash), line});
    return lines_ + line;
  }

  // False: no memory.
  bool MakeReady() { return ready() || Map(kFirstBits); }

  void Clear() {
    if (ready()) os::Unmap(pasts(), BytesFor(bits_));
    *this = LeafCache();
  }

  // A program that allocates at many places comes to them in much the same order time and again, with hundreds of
  // instructions in between: what it will want next can be on its way from memory meanwhile.
  //
  // A past is what the latest ten entries or so of a thread mix to. What came after it the last time is the better guess
  // (of the captures of a Python program 19 of 20 are told by it, 7 of 10 by the newest entry alone); after a new past, what
  // came after the newest entry.
  static MALLOW_ALWAYS_INLINE uint32_t PastWith(uint32_t past, const LeafEntry& newest) {
    return (past << kPastShift) + newest.node * kPastFactor;
  }
  MALLOW_ALWAYS_INLINE void SetNext(uint32_t past, LeafEntry& newest, const LeafEntry& next) const {
    newest.next = static_cast<uint32_t>(Address(&next) - Address(lines_));
    AfterPast(past) = newest.next ^ past << kPastBits;
  }
  // What lies now where that was: an entry of whichever start, or none, with a key that no code has.
  MALLOW_ALWAYS_INLINE LeafEntry* NextOf(uint32_t past, const LeafEntry& newest) const {
    const uint32_t next = AfterPast(past) ^ past << kPastBits;
    return reinterpret_cast<LeafEntry*>(Address(lines_) + (next < line_bytes_ ? next : newest.next));
  }
  static MALLOW_ALWAYS_INLINE void Prefetch(const LeafEntry& entry) {
    const char* const bytes = reinterpret_cast<const char*>(&entry);
    for (size_t line = 0; line < kLinesAhead; ++line) __builtin_prefetch(bytes + line * kCacheLineBytes);
  }

  // For tests: whether the two have one slot.
  bool ShareSlot(size_t hash, size_t other) const {
    return SlotOf(PositionOf(hash)) == SlotOf(PositionOf(other));
  }

 private:
  // Of the number of lines. It doubles when none is left, or when half as many entries were driven out of their slots as there
  // are slots.
  static constexpr unsigned kMostBits = 15;
  static constexpr unsigned kFirstBits = 8, kBitsOfHugePages = 15;
  static_assert(sizeof(LeafEntry) << kMostBits <= UINT32_MAX);  // see LeafEntry::next
  static_assert((1u << kFirstBits) > LeafEntry::kMostGroups);
  static constexpr unsigned kLinesOfSlotBits = 2;  // an entry has three lines or so
  // The head of an entry and its first twelve words.
  static constexpr size_t kLinesAhead = 3;

  struct Slot {
    uint32_t position;  // 0: none
    uint32_t line;
  };

  // The table of what came after pasts, small enough to stay in the first cache: by their upper bits, LeafEntry::next mixed
  // with the others. So what was there after another past comes out beyond the entries, but for one in 2,000.
  static constexpr unsigned kPastBits = 10, kPastShift = 3;
  static constexpr uint32_t kPastFactor = 0x9e3779b9;
  static constexpr size_t kPasts = size_t{1} << kPastBits;
  MALLOW_ALWAYS_INLINE uint32_t* pasts() const { return reinterpret_cast<uint32_t*>(slots_) - kPasts; }
  MALLOW_ALWAYS_INLINE uint32_t& AfterPast(uint32_t past) const { return pasts()[past >> (32 - kPastBits)]; }

  static uintptr_t Address(const LeafEntry* entry) { return reinterpret_cast<uintptr_t>(entry); }
  static constexpr size_t BytesFor(unsigned bits) {
    return sizeof(uint32_t) * kPasts + (sizeof(Slot) << (bits - kLinesOfSlotBits)) +
           (sizeof(LeafEntry) << bits);
  }
  // Odd, and as good as different for any two places of a search.
  static MALLOW_ALWAYS_INLINE uint32_t PositionOf(size_t hash) {
    return static_cast<uint32_t>(hash >> 32) | 1;
  }
  MALLOW_ALWAYS_INLINE size_t SlotOf(uint32_t position) const { return position >> shift_; }
  size_t slot_count() const { return size_t{1} << (bits_ - kLinesOfSlotBits); }
  uint32_t line_count() const { return uint32_t{1} << bits_; }

  bool Map(unsigned bits) {
    void* const memory = os::Map(nullptr, BytesFor(bits));
    if (memory == nullptr) return false;
    if (bits >= kBitsOfHugePages) os::WantHugePages(memory, BytesFor(bits));
    bits_ = static_cast<uint8_t>(bits);
    shift_ = static_cast<uint8_t>(32 - (bits - kLinesOfSlotBits));
    slots_ = reinterpret_cast<Slot*>(static_cast<uint32_t*>(memory) + kPasts);
    lines_ = reinterpret_cast<LeafEntry*>(slots_ + slot_count());
    line_bytes_ = static_cast<uint32_t>(sizeof(LeafEntry) << bits);
    driven_out_ = 0;
    return true;
  }

  // The first of so many lines that follow one another.
  uint32_t TakeLines(unsigned count) {
    if (next_line_ + count > line_count()) next_line_ = Grow() ? line_count() / 2 : 0;
    const uint32_t first = next_line_;
    next_line_ += count;
    return first;
  }

  // Two that belong into one slot would drive each other out for ever, so that one may be beside its own.
  void Put(const Slot& entry) {
    size_t slot = SlotOf(entry.position);
    const auto is_free = [&](size_t at) {
      return slots_[at].position == 0 || slots_[at].position == entry.position;
    };
    if (!is_free(slot) && (is_free(slot ^ 1) || ++driven_out_ % 2 != 0)) slot ^= 1;
    slots_[slot] = entry;
  }

  // False: it is as long as it was.
  bool Grow() {
    LeafCache wider;
    driven_out_ = 0;
    if (bits_ == kMostBits || !wider.Map(bits_ + 1u)) return false;
    memcpy(wider.pasts(), pasts(), sizeof(uint32_t) * kPasts);
    memcpy(wider.lines_, lines_, line_bytes_);
    for (size_t slot = 0; slot < slot_count(); ++slot) {
      if (slots_[slot].position != 0) wider.Put(slots_[slot]);
    }
    wider.next_line_ = next_line_;
    wider.driven_out_ = 0;
    Clear();
    *this = wider;
    return true;
  }

  // In memory: what came after pasts, slots, lines.
  Slot* slots_ = nullptr;
  LeafEntry* lines_ = nullptr;
  uint32_t driven_out_ = 0;  // since the table has this size, or was to grow
  uint32_t line_bytes_ = 0;
  uint32_t next_line_ = 0;
  uint8_t bits_ = 0, shift_ = 0;
};

}  // namespace mallow::record
