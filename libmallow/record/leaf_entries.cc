// How leaf entries come to be, how one is searched for, and how one serves another way (leaf_cache.h).
#include <algorithm>

#include "base/bits.h"
#include "record/leaf_hit.h"
#include "record/mutant.h"
#include "record/stack_cache.h"

namespace mallow::record {

namespace {

// Whether all words are pairs of neighbours, as RememberWords appends them for a frame that saves rbp below its return
// address.
bool ArePairs(const StackWord* words, size_t count) {
  if (count % 2 != 0) return false;
  for (size_t i = 0; i < count; i += 2) {
    if (words[i + 1].address - words[i].address != sizeof(uintptr_t)) return false;
  }
  return true;
}

constexpr size_t kGroup = LeafEntry::Words::kCount;

// `words` are in the reverse of the order in which an entry has them; `origin` is the address of its place 0.
MALLOW_ALWAYS_INLINE void SetWords(LeafEntry::Words* group, const StackWord* words, size_t count,
                                   uintptr_t origin, bool paired) {
  const size_t other = paired ? 1 : 0;
  for (size_t left = count; left != 0; ++group) {
    const size_t filled = Min(left, kGroup);
    left -= filled;
    const StackWord* const outermost = words + left;
    for (size_t i = 0; i < filled; ++i) {
      const StackWord& word = outermost[filled - 1 - (i ^ other)];
      group->places[i] = static_cast<uint16_t>((word.address - origin) / sizeof(uintptr_t));
      group->values[i] = word.value;
    }
    for (size_t i = filled; i < kGroup; ++i) {
      group->places[i] = group->places[i & other];
      group->values[i] = group->values[i & other];
    }
  }
}

}  // namespace

// Which of the words restored rbp as it is at `join`, where it is live, as LeafEntry::join_bp says it. The outermost of the
// frames that save it did.
uint8_t CaptureContext::PlaceOfJoinBp(const Frame& join, const StackWord* words, size_t count,
                                      bool paired) const {
  uintptr_t cfa = join.sp;
  for (size_t i = walked_.size(); i-- != 0; cfa = walked_[i].sp) {
    const WalkedFrame& frame = walked_[i];
    if (!frame.rule.saves_bp()) continue;
    const uintptr_t base = frame.rule.kind == RuleKind::kRealigned ? frame.bp : cfa;
    const uintptr_t slot = base + static_cast<uintptr_t>(intptr_t{frame.rule.bp});
    for (size_t outer = 0; outer < count; ++outer) {
      if (words[outer].address == slot) return static_cast<uint8_t>((count - 1 - outer) ^ size_t{paired});
    }
  }
  return LeafEntry::kFromStart;
}

// Keeps the way from the innermost frame to the one that joined (I4). `node` is what Remember returned.
NodeMemo* CaptureContext::RememberLeaf(NodeId node) {
  if (frames_.size() == 0 || plain_home_ == 0 || !leaves_.MakeReady()) return nullptr;
  const Frame& join = frames_[joined_];
  const Frame& innermost = frames_[frames_.size() - 1];
  const size_t count = words_.size() - join.words();
  const StackWord* const words = words_.data() + join.words();
  const uintptr_t origin = LeafEntry::AddressOf(innermost.sp, 0);
  if (!FitsLeaf(join, words, count, origin)) return nullptr;
  const bool paired = ArePairs(words, count);
  const uint8_t join_bp = join.need_bp() ? PlaceOfJoinBp(join, words, count, paired) : LeafEntry::kDead;
  const auto group_count = static_cast<uint8_t>((count + kGroup - 1) / kGroup);
  NoteWrapper(innermost);
  LeafEntry* const leaf = RoomForLeaf(innermost, group_count);
  leaf_generation_ = generation_;
  leaf->home = plain_home_;
  leaf->key = innermost.key;
  leaf->sp = innermost.sp;
  leaf->bp = innermost.bp;
  leaf->need_bp = innermost.need_bp();
  leaf->join_bp = join_bp & LeafEntry::kJoinBpMask;
  leaf->join_place = static_cast<uint16_t>((join.sp - origin) / sizeof(uintptr_t));
  leaf->join = static_cast<uint16_t>(joined_);
  leaf->join_words = static_cast<uint16_t>(join.words());
  leaf->join_node = join.node;
  leaf->memo = {};
  leaf->node = node;
  leaf->groups = group_count | (paired ? LeafEntry::kPaired : uint8_t{0});
  leaf->words()->joined_in = last_stack_;
  SetWords(leaf->words(), words, count, origin, paired);
  leaves_.SetNext(past_, *leaf, *leaf);
  SetNewest(*leaf);
  // As a rule nothing is known to follow it, and to ask for that is to wait.
  guess_ = leaf;
  return &leaf->memo;
}

// Whether there can be an entry for the walked frames, whose words these are.
MALLOW_ALWAYS_INLINE bool CaptureContext::FitsLeaf(const Frame& join, const StackWord* words, size_t count,
                                                   uintptr_t origin) const {
  if (count > LeafEntry::kMaxWords) return false;
  // I4.
  for (size_t i = 0; i < walked_.size(); ++i) {
    if (walked_[i].rule.kind > RuleKind::kRealigned) return false;
  }
  if (MALLOW_UNLIKELY(memory_.HomeOf(origin) != plain_home_)) return false;
  uintptr_t farthest = join.sp - origin, odd = farthest;
  for (size_t i = 0; i < count; ++i) {
    const uintptr_t distance = words[i].address - origin;
    farthest = Max(farthest, distance);
    odd |= distance;
  }
  return farthest <= LeafEntry::kFarthest && odd % sizeof(uintptr_t) == 0 &&
         join.words() <= LeafEntry::kMostJoinWords && joined_ <= LeafEntry::kMostJoinWords;
}

// The entry that lies there, if it is of that start and all its words are as they were; else null, and `hash` is where the
// search goes on if one changed.
MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE LeafEntry* CaptureContext::TryLeafAt(size_t* hash,
                                                                             const StartAt& start) const {
  LeafEntry* const leaf = leaves_.At(*hash);
  const size_t here = *hash;
  *hash = LeafCache::kNowhere;
  if (leaf == nullptr || !IsOfStart(*leaf, start)) return nullptr;
  if (IsUnchanged(*leaf)) return leaf;
  const LeafEntry::Words* const end = leaf->words() + leaf->group_count();
  for (const LeafEntry::Words* group = leaf->words(); group != end; ++group) {
    for (unsigned i = 0; i < LeafEntry::Words::kCount; ++i) {
      const uintptr_t value = Load(LeafEntry::AddressOf(start.sp(), group->places[i]));
      if (MALLOW_LIKELY(value == group->values[i])) continue;
      *hash = LeafCache::Next(here, group->places[i], value);
      return nullptr;
    }
  }
  return nullptr;
}

// Where it ends in vain is the place of an entry for this start, which a walk that is to come will write.
LeafEntry* CaptureContext::Search(uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  size_t hash = FirstHash(pc, sp);
  for (unsigned hops = 0; hash != LeafCache::kNowhere && hops != LeafCache::kMostHops; ++hops) {
    searched_ = {pc, sp, hash, hops};
    LeafEntry* const leaf = TryLeafAt(&hash, {*this, pc, sp, bp});
    if (leaf == nullptr) continue;
    searched_.sp = 0;
    return leaf;
  }
  return nullptr;
}

// After an entry that leads to no frame that is still there. No search may come by where it lies, and so no walk replace it:
// then it would be tried in vain for ever.
LeafEntry* CaptureContext::ForgetGuess(LeafEntry& leaf) {
  led_astray_ = &leaf;
  leaves_.SetNext(past_, *newest_leaf_, *newest_leaf_);
  guess_ = newest_leaf_;
  return nullptr;
}

// The frame of the last stack that the entry's words lead to, whoever called it. Null: there is none. REQUIRES: they are
// unchanged.
const CaptureContext::Frame* CaptureContext::FindJoinAnyhow(const LeafEntry& leaf) const {
  const uintptr_t sp = LeafEntry::AddressOf(leaf.sp, leaf.join_place);
  const Frame* const begin = frames_.data();
  const Frame* const end = begin + Min(frames_.size(), size_t{LeafEntry::kMostJoinWords});
  const Frame* join = begin + leaf.join;
  if (join >= end || join->sp != sp) {
    join = std::lower_bound(begin, end, sp, [](const Frame& frame, uintptr_t at) { return frame.sp > at; });
    if (join == end || join->sp != sp) return nullptr;
  }
  // That word, the last of the entry, is where the pc is from.
  if (Load(sp - sizeof(uintptr_t)) != join->key && !Is(Mutant::kLeafJoinOnSpAlone)) return nullptr;
  // As FindJoin, whose code on the hit path comes out otherwise if the two call one function.
  if (join->need_bp() && (leaf.join_bp == LeafEntry::kDead || join->bp != leaf.BpAtJoin()) &&
      !Is(Mutant::kLeafNewJoinBpIgnored))
    return nullptr;
  return join->words() <= LeafEntry::kMostJoinWords ? join : nullptr;
}

// A program that comes to one function in ever other ways, as those do that walk trees, has the way from there inwards in few
// forms. So where an entry led to no frame that is still there, but its own words are what they were, its frames are put
// below the frame to which they lead now, without a walk. From then on it is an entry for that one.
bool CaptureContext::CaptureByLeaf(const Registers& registers, const NodeTable& table,
                                   CaptureStatistics* statistics, Captured* captured) {
  LeafEntry* const leaf = led_astray_;
  led_astray_ = nullptr;
  if (leaf == nullptr || !memory_.IsPlain(plain_home_)) return false;
  if (!IsOfStart(*leaf, StartAt{*this, registers.pc, registers.sp, registers.bp}) || !IsUnchanged(*leaf))
    return false;
  const Frame* const join = FindJoinAnyhow(*leaf);
  if (join == nullptr) return false;
  if (FirstChanged(words_.data(), join->words()) != 0 && !Is(Mutant::kLeafOuterWordsNotVerified))
    return false;
  const size_t count = table.frames(table.self, leaf->join_node, leaf->node, steps_, kStepsAtOnce);
  const NodeId node = count != 0 ? table.path(table.self, join->node, steps_, count) : kRoot;
  if (MALLOW_UNLIKELY(node == kRoot)) return false;
  leaf->join = static_cast<uint16_t>(join - frames_.data());
  leaf->join_words = static_cast<uint16_t>(join->words());
  leaf->join_node = join->node;
  leaf->words()->joined_in = last_stack_;
  leaf->node = node;
  leaf->memo = {};
  statistics->frames_verified += leaf->join + 1u;
  ++statistics->reused;
  statistics->truncated += TakeLeaf(*leaf);
  searched_.sp = 0;
  *captured = {node, steps_[count - 1].frame, &leaf->memo};
  return true;
}

// More than one way starts where a search came by an entry of another one.
void CaptureContext::NoteWrapper(const Frame& start) {
  if (searched_.key != start.key || searched_.sp != start.sp || searched_.hops == 0) return;
  const Rule& rule = walked_[0].rule;
  constexpr int32_t kWord = sizeof(uintptr_t);
  if (rule.kind != RuleKind::kFromSp || rule.cfa < kWord || rule.cfa % kWord != 0) return;
  if (wrappers_.Add(start.key, static_cast<uint32_t>(rule.cfa / kWord))) searched_.sp = 0;
}

// Where a search for this start ends; what lies there gives place.
LeafEntry* CaptureContext::RoomForLeaf(const Frame& start, unsigned group_count) {
  if (MALLOW_UNLIKELY(searched_.key != start.key || searched_.sp != start.sp))
    Search(start.key, start.sp, start.bp);
  return leaves_.MakeRoomAt(searched_.hash, start.key, start.sp, group_count);
}

}  // namespace mallow::record
