#include "record/stack_cache.h"

#include "base/bits.h"
#include "record/leaf_hit.h"
#include "record/module_generation.h"
#include "record/mutant.h"
#include "record/oracle_hook.h"

namespace mallow::record {

namespace {

uintptr_t g_own_text_start, g_own_text_bytes;

// No code lies in the first page; 0 itself ends a stack.
constexpr uintptr_t kLowestPc = 4096;

bool CanBePc(uintptr_t pc) { return pc - kLowestPc < kPcLimit - kLowestPc; }

// What the table calls the frame, of the object with that id + 1.
FrameId IdOf(FrameKey key, uint32_t module, const NodeTable& table) {
  const uint64_t tag = key & kInterrupted ? kTagSignalFrame : kTagReturnAddress;
  return table.frame(table.self, tag << 56 | PcOf(key), module);
}

bool UsesBp(RuleKind kind) {
  return kind == RuleKind::kFromBp || kind == RuleKind::kRealigned || kind == RuleKind::kInterpreted;
}

// After a walk of so many frames its array is given back: the next one may be long in coming.
constexpr size_t kLargeWalk = 16384;

constexpr uint32_t kAllRegisters = 1u << kRbx | 1u << kRbp | 1u << kRsp | 1u << kR12 | 1u << kR13 |
                                   1u << kR14 | 1u << kR15 | 1u << kReturnAddress;
// What a walk by rules follows.
constexpr uint32_t kFollowedRegisters = 1u << kRbp | 1u << kRsp | 1u << kReturnAddress;

// Whether all words are pairs of neighbours, as RememberWords appends them for a frame that saves rbp below its return
// address.
bool ArePairs(const StackWord* words, size_t count) {
  if (count % 2 != 0) return false;
  for (size_t i = 0; i < count; i += 2) {
    if (words[i + 1].address - words[i].address != sizeof(uintptr_t)) return false;
  }
  return true;
}

}  // namespace

void SetOwnText(uintptr_t start, uintptr_t end) {
  g_own_text_start = start;
  g_own_text_bytes = end - start;
}

NodeId TruncatedPath(Truncation why, const NodeTable& table) {
  PathStep step = {table.frame(table.self, kTagTruncated << 56 | static_cast<uint64_t>(why), 0), kRoot};
  return step.frame != 0 ? table.path(table.self, kRoot, &step, 1) : kRoot;
}

bool InOwnText(uintptr_t pc) { return pc - g_own_text_start < g_own_text_bytes; }

// --- One capture ------------------------------------------------------------------------------

Captured CaptureContext::Capture(const Registers& registers, const NodeTable& table,
                                 CaptureStatistics* statistics) {
  const uint64_t generation = ModuleGeneration();
  if (MALLOW_UNLIKELY(generation_ != generation) && kMutant != Mutant::kGenerationIgnored) Flush(generation);
  if (MALLOW_UNLIKELY(base_outside_objects_)) ForgetLastStack();
  memory_.Begin(registers.sp);
  ++statistics->captures;
  return CaptureByWalk(registers, table, statistics);
}

Captured CaptureContext::CaptureByWalk(const Registers& registers, const NodeTable& table,
                                       CaptureStatistics* statistics) {
  walked_.Truncate(0);
  interpreted_words_.Truncate(0);
  candidates_ = frames_.size();
  switches_ = 0;
  outside_objects_ = false;
  scratch_.pages.Forget();

  const End end = Walk({registers.pc, registers.sp, registers.bp}, table);
  if (MALLOW_UNLIKELY(end == End::kUnknownRegister)) {
    return {CaptureInterpreted(registers, table, statistics), 0, nullptr};
  }
  statistics->frames_walked += walked_.size();
  if (end == End::kJoined) {
    statistics->frames_verified += joined_ + 1;
    if (walked_.size() == 0) ++statistics->reused;
  }
  const NodeId node = Remember(end, table);
  NodeMemo* const memo = end == End::kJoined && walked_.size() != 0 ? RememberLeaf(node) : nullptr;
  if (MALLOW_UNLIKELY(base_truncated_)) ++statistics->truncated;
  searched_.sp = 0;
  const FrameId caller = walked_.size() != 0 && walked_[0].key() == registers.pc ? walked_[0].id() : 0;
  if (MALLOW_UNLIKELY(walked_.size() > kLargeWalk)) walked_.Unmap();
  return {node, caller, memo};
}

void CaptureContext::Flush(uint64_t generation) {
  if (kMutant != Mutant::kRulesOutliveObjects) rules_.Clear();
  if (kMutant != Mutant::kRecentRulesOutliveObjects) recent_rules_ = {};
  if (kMutant != Mutant::kProgressOutlivesObjects) scratch_.progress = {};
  scratch_.tables_ends = {};
  if (kMutant != Mutant::kLeavesOutliveObjects) {
    FlushLeaves();
    wrappers_ = {};
  }
  if (kMutant != Mutant::kLastStackOutlivesObjects) ForgetLastStack();
  generation_ = generation;
}

void CaptureContext::FlushLeaves() {
  leaves_.Clear();
  leaf_generation_ = 0;
  newest_leaf_ = guess_ = nullptr;
}

// What was found in the last stack is no more known of the one that comes. The numbers begin anew after 2^32 of them.
MALLOW_ALWAYS_INLINE void CaptureContext::BeginLastStack() {
  if (kMutant == Mutant::kLeafJoinRemembered) return;
  if (MALLOW_UNLIKELY(++last_stack_ == 0)) FlushLeaves();
}

void CaptureContext::ForgetLastStack() {
  BeginLastStack();
  frames_.Truncate(0);
  words_.Truncate(0);
  base_outside_objects_ = false;
  plain_home_ = 0;
}

// --- Rules ------------------------------------------------------------------------------------

MALLOW_ALWAYS_INLINE const RuleEntry& CaptureContext::FindRule(FrameKey key, const NodeTable& table) {
  const RuleEntry* entry = rules_.Find(key);
  return MALLOW_LIKELY(entry != nullptr) ? *entry : NewRule(key, table);
}

// One of a frame for which there was no room is made anew: there may be room then.
void CaptureContext::KeepRule() {
  if (MALLOW_LIKELY(uncached_rule_.id() != 0)) rules_.Add(uncached_rule_);
}

MALLOW_NOINLINE const RuleEntry& CaptureContext::NewRule(FrameKey key, const NodeTable& table) {
  if (const RecentRule* const recent = recent_rules_.Find(AddressOf(key), &scratch_.pages)) {
    uncached_rule_ = RuleEntry::Of(key, IdOf(key, recent->module, table), recent->rule);
    KeepRule();
    return uncached_rule_;
  }
  RuleSource source;
  MakeRule(PcOf(key), key & kInterrupted, &scratch_, &memory_, &source);
  const uint32_t module = source.in_object ? table.module(table.self, &source.found) : 0;
  uncached_rule_ = RuleEntry::Of(key, IdOf(key, module, table), source.rule);
  if (source.in_object || kMutant == Mutant::kOutsideRemembered) {
    KeepRule();
    if (source.code.start != source.code.end)
      recent_rules_.Add({source.code, source.tables, *source.tables, module, source.rule});
  } else {
    outside_objects_ = true;
  }
  return uncached_rule_;
}

// Begins a chain with the key. Null: its rule was not known, and is in uncached_rule_; no chain is where it was.
MALLOW_NOINLINE RuleEntry* CaptureContext::BeginChain(FrameKey key, const NodeTable& table) {
  const RuleEntry& rule = FindRule(key, table);
  if (&rule == &uncached_rule_) return nullptr;
  RuleEntry* const chain = rules_.ChainOf(key);
  RuleCache::BeginChain(chain, rule);
  return chain;
}

// The rule that a walk needs next; `next` is where it lies in a chain if the caller is that of the last time.
MALLOW_ALWAYS_INLINE const RuleEntry* CaptureContext::FindNextRule(FrameKey key, const NodeTable& table,
                                                                   RuleEntry** next) {
  RuleEntry* const expected = *next;
  if (MALLOW_LIKELY(!RuleCache::IsEndOfChain(expected) && expected->key() == key)) {
    *next = expected + 1;
    return expected;
  }
  RuleEntry* chain = rules_.ChainOf(key);
  if (MALLOW_UNLIKELY(chain == nullptr || chain->key() != key)) {
    chain = BeginChain(key, table);
    if (MALLOW_UNLIKELY(chain == nullptr)) {
      *next = nullptr;
      return &uncached_rule_;
    }
  }
  RuleCache::GoOnAs(expected, chain);
  *next = chain + 1;
  return chain;
}

// --- The walk ---------------------------------------------------------------------------------

CaptureContext::End CaptureContext::Walk(Cursor cursor, const NodeTable& table) {
  while (MALLOW_UNLIKELY(InOwnText(cursor.key))) {
    const WalkedFrame own{FindRule(cursor.key, table), cursor.sp, cursor.bp};
    if (Step(own, &cursor) == Advance::kEnd) return end_;
    interpreted_words_.Truncate(0);
  }
  RuleEntry* next = nullptr;
  // Of a stack that is the last one again a frame is walked, so that it comes to have a leaf entry.
  bool may_join = candidates_ < 2 || plain_home_ == 0;
  for (;; may_join = true) {
    if (MALLOW_LIKELY(may_join) && TryJoin(cursor)) return End::kJoined;
    const RuleEntry& entry = *FindNextRule(cursor.key, table, &next);
    if (!walked_.Reserve(1)) {
      EndTruncated(Truncation::kNoRoom);
      return end_;
    }
    WalkedFrame* frame = walked_.Append();
    *frame = {entry, cursor.sp, cursor.bp};
    if (Step(*frame, &cursor) == Advance::kEnd) return end_;
  }
}

// True if the last stack goes on from `cursor` as it did (I3).
MALLOW_ALWAYS_INLINE bool CaptureContext::TryJoin(const Cursor& cursor) {
  while (candidates_ != 0 && frames_[candidates_ - 1].sp < cursor.sp) --candidates_;
  if (candidates_ == 0) return false;
  const Frame& frame = frames_[candidates_ - 1];
  if (frame.sp != cursor.sp) return false;
  if (frame.key != cursor.key && kMutant != Mutant::kJoinOnSpAlone) return false;
  if (frame.need_bp() && frame.bp != cursor.bp && kMutant != Mutant::kJoinBpNotCompared) return false;
  joined_ = candidates_ - 1;
  const uint32_t changed = kMutant == Mutant::kOuterWordsNotVerified ? 0 : FindChanged(frame.words());
  if (MALLOW_LIKELY(changed == 0)) return true;
  // No frame whose unwind reads the changed word can join.
  while (candidates_ != 0 && frames_[candidates_ - 1].words() >= changed) --candidates_;
  return false;
}

// 1 + index of the innermost of words_[0, words) that changed, 0 if none did.
MALLOW_ALWAYS_INLINE uint32_t CaptureContext::FindChanged(uint32_t words) {
  if (MALLOW_LIKELY(memory_.IsPlain(plain_home_))) return FirstChanged(words_.data(), words);
  return FindChangedAnywhere(words);
}

MALLOW_NOINLINE uint32_t CaptureContext::FindChangedAnywhere(uint32_t words) {
  for (; words > kPaddingWords; --words) {
    uintptr_t value;
    const StackWord& word = words_[words - 1];
    if (!memory_.Read(word.address, &value) || value != word.value) return words;
  }
  return 0;
}

// From a frame to its caller, for the rules and places that are common.
MALLOW_ALWAYS_INLINE CaptureContext::Advance CaptureContext::Step(const WalkedFrame& frame, Cursor* cursor) {
  const Rule rule = frame.rule;
  const uintptr_t base = rule.kind == RuleKind::kFromSp ? frame.sp : frame.bp;
  const uintptr_t cfa = base + static_cast<uintptr_t>(intptr_t{rule.cfa});
  const uintptr_t bp_slot = cfa + static_cast<uintptr_t>(intptr_t{rule.bp});
  const bool common = rule.kind <= RuleKind::kFromBp && cfa > frame.sp && cfa % sizeof(uintptr_t) == 0 &&
                      memory_.InOwnRange(cfa - sizeof(uintptr_t)) &&
                      (!rule.saves_bp() || memory_.InOwnRange(bp_slot));
  if (MALLOW_UNLIKELY(!common)) {
    const Advance advance = StepRare(frame);
    *cursor = caller_;
    return advance;
  }
  const uintptr_t pc = Load(cfa - sizeof(uintptr_t));
  if (MALLOW_UNLIKELY(!CanBePc(pc))) {
    const Advance advance = StepRare(frame);
    *cursor = caller_;
    return advance;
  }
  *cursor = {pc, cfa, rule.saves_bp() ? Load(bp_slot) : frame.bp};
  return Advance::kDone;
}

// Any rule, any place. `frame` is a copy: the arrays may move.
MALLOW_NOINLINE CaptureContext::Advance CaptureContext::StepRare(WalkedFrame frame) {
  const Rule rule = frame.rule;
  uintptr_t cfa = 0, bp_slot = 0, pc = 0, bp = frame.bp;
  switch (rule.kind) {
    case RuleKind::kOutermost:
      return EndWith(End::kOutermost);
    case RuleKind::kNoUnwindInfo:
      return EndTruncated(Truncation::kNoUnwindInfo);
    case RuleKind::kInterpreted:
      return StepInterpreted(frame);
    case RuleKind::kSignal: {
      uintptr_t sp;
      if (!memory_.Read(frame.sp + kSignalPc, &pc) || !memory_.Read(frame.sp + kSignalSp, &sp) ||
          !memory_.Read(frame.sp + kSignalBp, &bp)) {
        return EndTruncated(Truncation::kDamagedStack);
      }
      return Arrive(frame, pc, sp, bp);
    }
    case RuleKind::kFromSp:
    case RuleKind::kFromBp:
      cfa = rule.kind == RuleKind::kFromSp ? frame.sp : frame.bp;
      cfa += static_cast<uintptr_t>(intptr_t{rule.cfa});
      bp_slot = cfa;
      break;
    case RuleKind::kRealigned:
      if (!memory_.Read(frame.bp + static_cast<uintptr_t>(intptr_t{rule.cfa}), &cfa)) {
        return EndTruncated(Truncation::kDamagedStack);
      }
      bp_slot = frame.bp;
      break;
  }
  bp_slot += static_cast<uintptr_t>(intptr_t{rule.bp});
  if (!memory_.Read(cfa - sizeof(uintptr_t), &pc) || (rule.saves_bp() && !memory_.Read(bp_slot, &bp))) {
    return EndTruncated(Truncation::kDamagedStack);
  }
  return Arrive(frame, pc, cfa, bp);
}

CaptureContext::Advance CaptureContext::StepInterpreted(const WalkedFrame& frame) {
  RegisterFile registers{}, caller;
  registers.Set(kRsp, frame.sp);
  registers.Set(kRbp, frame.bp);
  const FrameKey key = frame.key();
  registers.Set(kReturnAddress, PcOf(key));
  FrameEntry entry;
  bool in_object;
  dl_find_object found;
  if (!FindRow(AddressOf(key), &scratch_, &entry, &in_object, &found)) {
    return EndTruncated(Truncation::kNoUnwindInfo);
  }
  log_.count = 0;
  log_.overflow = false;
  switch (RecoverCaller(scratch_.row, registers, kFollowedRegisters, &memory_, &log_, &caller)) {
    case Interpretation::kDone:
      break;
    case Interpretation::kOutermost:
      return EndWith(End::kOutermost);
    case Interpretation::kUnknownRegister:
      return EndWith(End::kUnknownRegister);
    case Interpretation::kUnreadable:
      return EndTruncated(Truncation::kDamagedStack);
    case Interpretation::kMalformed:
      return EndTruncated(Truncation::kNoUnwindInfo);
  }
  // A frame whose words do not fit the log, or are not remembered for lack of room, goes the long way as well.
  if (!caller.Knows(kRbp) || log_.overflow || !interpreted_words_.Reserve(log_.count)) {
    return EndWith(End::kUnknownRegister);
  }
  if (walked_.size() != 0) {
    Rule& rule = walked_[walked_.size() - 1].rule;
    rule.cfa = static_cast<int32_t>(interpreted_words_.size());
    rule.bp = static_cast<int16_t>(log_.count);
  }
  for (unsigned i = 0; i < log_.count; ++i) *interpreted_words_.Append() = log_.words[i];
  return Arrive(frame, caller.value[kReturnAddress], caller.value[kRsp], caller.value[kRbp]);
}

// The caller's state is known: leaves it in caller_ and says whether it makes sense.
CaptureContext::Advance CaptureContext::Arrive(const WalkedFrame& from, uintptr_t pc, uintptr_t sp,
                                               uintptr_t bp) {
  const bool interrupted = from.rule.signal_frame() && kMutant != Mutant::kSignalPcDecremented;
  caller_ = {pc | (interrupted ? kInterrupted : 0), sp, bp};
  if (!Progresses(from.sp, caller_, from.rule.signal_frame())) return EndTruncated(Truncation::kDamagedStack);
  if (pc == 0 && !from.rule.signal_frame()) return EndWith(End::kZeroReturn);
  if (!CanBePc(pc)) return EndTruncated(Truncation::kDamagedStack);
  return Advance::kDone;
}

// Within one stack callers lie above. A step to another stack may go anywhere, but a chain of such steps that comes
// back to where it was would never end; each state is compared with the latest one whose number is a power of two.
bool CaptureContext::Progresses(uintptr_t from_sp, const Cursor& to, bool signal_frame) {
  if (to.sp > from_sp) return true;
  if (!signal_frame && memory_.InOwnRange(from_sp) && memory_.IsOnOwnStack(to.sp - sizeof(uintptr_t)))
    return false;
  ++switches_;
  if (switches_ != 1 && to.key == milestone_.key && to.sp == milestone_.sp && to.bp == milestone_.bp)
    return false;
  if ((switches_ & (switches_ - 1)) == 0) milestone_ = to;
  return true;
}

// --- What becomes of it -----------------------------------------------------------------------

// The node of the walked frames below `base`. `frames`, if not null, is given the nodes, outermost first. kRoot: no room.
NodeId CaptureContext::NodesOfWalk(NodeId base, Frame* frames, const NodeTable& table) {
  NodeId node = base;
  for (size_t left = walked_.size(); left != 0;) {
    const size_t count = left < kStepsAtOnce ? left : kStepsAtOnce;
    bool known = true;
    for (size_t i = 0; i < count; ++i) {
      steps_[i].frame = walked_[--left].id();
      known &= steps_[i].frame != 0;
    }
    if (MALLOW_UNLIKELY(!known)) return kRoot;
    node = table.path(table.self, node, steps_, count);
    if (MALLOW_UNLIKELY(node == kRoot)) return kRoot;
    if (frames == nullptr) continue;
    for (size_t i = 0; i < count; ++i) (frames++)->node = steps_[i].node;
  }
  return node;
}

// The innermost frames of the walk below a mark, where there is no room for all; the mark alone where there is none for these.
NodeId CaptureContext::ShortPath(const NodeTable& table) {
  const NodeId mark = TruncatedPath(Truncation::kNoRoom, table);
  for (size_t most = kFramesOfShortPath; mark != kRoot && most != 0; most /= 2) {
    const size_t count = Min(most, walked_.size());
    for (size_t i = 0; i < count; ++i) steps_[i].frame = walked_[count - 1 - i].id();
    if (count == 0 || steps_[count - 1].frame == 0) break;
    const NodeId node = table.path(table.self, mark, steps_, count);
    if (node != kRoot) return node;
  }
  return mark;
}

// The same for a stack that is not remembered.
NodeId CaptureContext::PathOfWalk(NodeId base, const NodeTable& table) {
  if (walked_.size() == 0) return base;
  const NodeId node = NodesOfWalk(base, nullptr, table);
  return MALLOW_LIKELY(node != kRoot) ? node : ShortPath(table);
}

// Makes the walked frames, on top of what joined, the last stack (I1, I2). The path's node.
NodeId CaptureContext::Remember(End end, const NodeTable& table) {
  NodeId node = kRoot;
  bool need_bp = false;
  Cursor caller = caller_;
  bool has_caller = end == End::kZeroReturn;
  if (end == End::kJoined) {
    const Frame& joined = frames_[joined_];
    if (walked_.size() == 0) return joined.node;
    node = joined.node;
    need_bp = joined.need_bp();
    caller = {joined.key, joined.sp, joined.bp};
    has_caller = true;
    BeginLastStack();
    frames_.Truncate(joined_ + 1);
    words_.Truncate(joined.words());
    if (MALLOW_UNLIKELY(plain_home_ != memory_.home())) plain_home_ = 0;
  } else {
    ForgetLastStack();
    base_truncated_ = end == End::kTruncated;
    if (base_truncated_) {
      node = TruncatedPath(truncation_, table);
      // Whether memory can be read is no word that could be compared.
      if (truncation_ != Truncation::kNoUnwindInfo) return PathOfWalk(node, table);
      base_outside_objects_ = outside_objects_;
    }
    plain_home_ = base_outside_objects_ ? 0 : memory_.home();
  }
  constexpr size_t kMostWordsOfRule = 3;
  if (!frames_.Reserve(walked_.size()) ||
      !words_.Reserve(kPaddingWords + walked_.size() * kMostWordsOfRule + interpreted_words_.size())) {
    ForgetLastStack();
    return PathOfWalk(node, table);
  }
  while (words_.size() < kPaddingWords) {
    *words_.Append() = {reinterpret_cast<uintptr_t>(&kPaddingValue), kPaddingValue};
  }
  Frame* const first = frames_.end();
  Frame* next_frame = first;
  StackWord* next_word = words_.end();
  const WalkedFrame* const innermost = walked_.data();
  for (const WalkedFrame* end = walked_.end(); end != innermost; --end) {
    const WalkedFrame& frame = end[-1];
    if (MALLOW_LIKELY(has_caller)) {
      next_word = RememberWords(frame, caller, need_bp, next_word);
      need_bp = UsesBp(frame.rule.kind) || (!frame.rule.saves_bp() && need_bp);
    }
    caller = {frame.key(), frame.sp, frame.bp};
    has_caller = true;
    *next_frame++ = {caller.key, caller.sp, caller.bp, kRoot,
                     static_cast<uint32_t>(next_word - words_.data()) << 1 | uint32_t{need_bp}};
  }
  frames_.AppendedTo(next_frame);
  words_.AppendedTo(next_word);
  if (MALLOW_UNLIKELY(plain_home_ == 0) && !base_outside_objects_) FindHome();
  node = NodesOfWalk(node, first, table);
  if (MALLOW_LIKELY(node != kRoot || walked_.size() == 0)) return node;
  ForgetLastStack();
  return ShortPath(table);
}

// The words may have been of two stacks, a signal handler's and that of what it interrupted, and be of one again; or all be
// in the live page.
MALLOW_NOINLINE void CaptureContext::FindHome() {
  if (words_.size() <= kPaddingWords) return;
  const uint32_t home = memory_.HomeOf(words_[kPaddingWords].address);
  for (size_t i = kPaddingWords + 1; i < words_.size(); ++i) {
    if (memory_.HomeOf(words_[i].address) != home) return;
  }
  plain_home_ = home;
}

// Appends the words that lead from `frame` to `caller`, in the reverse of the order in which an unwind reads them. Returns
// where the next one goes.
MALLOW_ALWAYS_INLINE StackWord* CaptureContext::RememberWords(const WalkedFrame& frame, const Cursor& caller,
                                                              bool need_bp, StackWord* next) {
  const auto add = [this, &next](uintptr_t address, uintptr_t value) {
    *next++ = {address, value};
    if (MALLOW_UNLIKELY(!memory_.InOwnRange(address)) && kMutant != Mutant::kStackBoundsIgnored)
      plain_home_ = 0;
  };
  const Rule rule = frame.rule;
  const uintptr_t bp_offset = static_cast<uintptr_t>(intptr_t{rule.bp});
  const bool add_bp = rule.saves_bp() && need_bp && kMutant != Mutant::kSavedBpNotVerified;
  if (MALLOW_LIKELY(rule.kind <= RuleKind::kFromBp)) {
    if (add_bp) add(caller.sp + bp_offset, caller.bp);
    add(caller.sp - sizeof(uintptr_t), PcOf(caller.key));
  } else if (rule.kind == RuleKind::kRealigned) {
    if (add_bp) add(frame.bp + bp_offset, caller.bp);
    add(caller.sp - sizeof(uintptr_t), PcOf(caller.key));
    add(frame.bp + static_cast<uintptr_t>(intptr_t{rule.cfa}), caller.sp);
  } else if (rule.kind == RuleKind::kSignal) {
    if (add_bp) add(frame.sp + kSignalBp, caller.bp);
    add(frame.sp + kSignalSp, caller.sp);
    add(frame.sp + kSignalPc, PcOf(caller.key));
  } else {
    for (int i = rule.bp; i-- != 0;) {
      const StackWord& word = interpreted_words_[static_cast<size_t>(rule.cfa + i)];
      add(word.address, word.value);
    }
  }
  return next;
}

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
  if (count > LeafEntry::kMaxWords) return nullptr;
  // I4.
  for (size_t i = 0; i < walked_.size(); ++i) {
    if (walked_[i].rule.kind > RuleKind::kRealigned) return nullptr;
  }
  const StackWord* const words = words_.data() + join.words();
  const uintptr_t origin = LeafEntry::AddressOf(innermost.sp, 0);
  if (MALLOW_UNLIKELY(memory_.HomeOf(origin) != plain_home_)) return nullptr;
  const uintptr_t join_distance = join.sp - origin;
  uintptr_t farthest = join_distance, odd = join_distance;
  for (size_t i = 0; i < count; ++i) {
    const uintptr_t distance = words[i].address - origin;
    farthest = Max(farthest, distance);
    odd |= distance;
  }
  if (farthest > LeafEntry::kFarthest || odd % sizeof(uintptr_t) != 0) return nullptr;
  if (MALLOW_UNLIKELY(join.words() > LeafEntry::kMostJoinWords || joined_ > LeafEntry::kMostJoinWords))
    return nullptr;
  constexpr size_t kGroup = LeafEntry::Words::kCount;
  const auto group_count = static_cast<uint8_t>((count + kGroup - 1) / kGroup);
  const bool need_bp = innermost.need_bp();
  const bool paired = ArePairs(words, count);
  NoteWrapper(innermost);
  LeafEntry* const leaf = RoomForLeaf(innermost, group_count);
  leaf_generation_ = generation_;
  leaf->home = plain_home_;
  leaf->key = innermost.key;
  leaf->sp = innermost.sp;
  leaf->join_place = static_cast<uint16_t>(join_distance / sizeof(uintptr_t));
  leaf->join = static_cast<uint16_t>(joined_);
  leaf->join_words = static_cast<uint16_t>(join.words());
  leaf->join_node = join.node;
  leaf->memo = {};
  leaf->node = node;
  leaf->need_bp = need_bp;
  leaf->bp = innermost.bp;
  leaf->join_bp = LeafEntry::kDead;
  if (join.need_bp()) leaf->join_bp = PlaceOfJoinBp(join, words, count, paired);
  leaf->groups = group_count | (paired ? LeafEntry::kPaired : uint8_t{0});
  leaf->words()->joined_in = last_stack_;
  LeafEntry::Words* group = leaf->words();
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
  leaves_.SetNext(past_, *leaf, *leaf);
  SetNewest(*leaf);
  // As a rule nothing is known to follow it, and to ask for that is to wait.
  guess_ = leaf;
  return &leaf->memo;
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
LeafEntry* CaptureContext::ForgetGuess() {
  leaves_.SetNext(past_, *newest_leaf_, *newest_leaf_);
  guess_ = newest_leaf_;
  return nullptr;
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
  return leaves_.MakeRoomAt(searched_.hash, group_count);
}

// --- With all registers -----------------------------------------------------------------------

// For stacks with a frame whose row needs more than pc, sp and rbp: every frame is interpreted with all callee-saved
// registers, and nothing is remembered, since the read set does not name those registers.
MALLOW_COLD NodeId CaptureContext::CaptureInterpreted(const Registers& registers, const NodeTable& table,
                                                      CaptureStatistics* statistics) {
  ForgetLastStack();
  walked_.Truncate(0);
  switches_ = 0;
  const End end = WalkInterpreted(registers, table);
  statistics->frames_interpreted += walked_.size();
  base_truncated_ = end == End::kTruncated;
  if (!base_truncated_) return PathOfWalk(kRoot, table);
  ++statistics->truncated;
  return PathOfWalk(TruncatedPath(truncation_, table), table);
}

CaptureContext::End CaptureContext::WalkInterpreted(const Registers& registers, const NodeTable& table) {
  RegisterFile frame{}, caller;
  frame.Set(kReturnAddress, registers.pc);
  frame.Set(kRsp, registers.sp);
  frame.Set(kRbp, registers.bp);
  frame.Set(kRbx, registers.bx);
  frame.Set(kR12, registers.r12);
  frame.Set(kR13, registers.r13);
  frame.Set(kR14, registers.r14);
  frame.Set(kR15, registers.r15);
  Cursor cursor{registers.pc, registers.sp, registers.bp};
  const auto truncated = [this](Truncation why) {
    EndTruncated(why);
    return end_;
  };
  for (;;) {
    const RuleEntry entry = FindRule(cursor.key, table);
    const WalkedFrame walked{entry, cursor.sp, cursor.bp};
    if (walked_.size() != 0 || !InOwnText(cursor.key)) {
      if (!walked_.Reserve(1)) return truncated(Truncation::kNoRoom);
      *walked_.Append() = walked;
    }
    Interpretation status;
    log_.count = 0;
    if (entry.rule.kind == RuleKind::kOutermost) return End::kOutermost;
    if (entry.rule.kind == RuleKind::kNoUnwindInfo) return truncated(Truncation::kNoUnwindInfo);
    if (entry.rule.kind == RuleKind::kSignal) {
      status = RecoverFromSignal(frame, &caller);
    } else {
      FrameEntry covering;
      bool in_object;
      dl_find_object found;
      if (!FindRow(AddressOf(cursor.key), &scratch_, &covering, &in_object, &found)) {
        return truncated(Truncation::kNoUnwindInfo);
      }
      status = RecoverCaller(scratch_.row, frame, kAllRegisters, &memory_, &log_, &caller);
    }
    if (status == Interpretation::kOutermost) return End::kOutermost;
    if (status == Interpretation::kUnreadable) return truncated(Truncation::kDamagedStack);
    if (status != Interpretation::kDone) return truncated(Truncation::kNoUnwindInfo);
    if (Arrive(walked, caller.value[kReturnAddress], caller.value[kRsp], caller.value[kRbp]) ==
        Advance::kEnd) {
      return end_;
    }
    cursor = caller_;
    frame = caller;
  }
}

Interpretation CaptureContext::RecoverFromSignal(const RegisterFile& registers, RegisterFile* caller) {
  // Offset of each register in the ucontext, from sp.
  constexpr struct {
    DwarfRegister number;
    int offset;
  } kSaved[] = {{kR12, 72},  {kR13, 80},        {kR14, 88},        {kR15, 96},
                {kRbx, 128}, {kRbp, kSignalBp}, {kRsp, kSignalSp}, {kReturnAddress, kSignalPc}};
  caller->known = 0;
  for (const auto& saved : kSaved) {
    uintptr_t value;
    if (!memory_.Read(registers.value[kRsp] + static_cast<uintptr_t>(saved.offset), &value)) {
      return Interpretation::kUnreadable;
    }
    caller->Set(saved.number, value);
  }
  return Interpretation::kDone;
}

// --- Owners -----------------------------------------------------------------------------------

void CaptureContext::Forget() {
  ForgetLastStack();
  memory_.Forget();
}

void CaptureContext::Unmap() {
  Flush(0);
  memory_.Forget();
  frames_.Unmap();
  words_.Unmap();
  walked_.Unmap();
  interpreted_words_.Unmap();
}

Captured StackCache::CaptureWithMemo(const Registers& registers, const NodeTable& table,
                                     CaptureStatistics* statistics) {
  // A hit by itself: it calls nothing, so it saves no registers.
  Captured captured;
  const bool searched = registers.sp == searched_sp_;
  searched_sp_ = 0;
  if (MALLOW_LIKELY(depth_ == 0 && !searched)) {
    depth_ = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    LeafEntry* const leaf =
        CaptureContext::TryLeaf(StartAt{contexts_[0], registers.pc, registers.sp, registers.bp});
    if (MALLOW_LIKELY(leaf != nullptr)) {
      ++statistics->captures;
      ++statistics->reused;
      statistics->truncated += contexts_[0].TakeLeaf(*leaf);
      captured = {leaf->node, 0, &leaf->memo};
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    depth_ = 0;
    if (MALLOW_LIKELY(leaf != nullptr)) {
      if constexpr (kOracleBuild) CheckAgainstOracle(registers, captured.node);
      return captured;
    }
  }
  return CaptureSlow(registers, table, statistics);
}

MALLOW_NOINLINE Captured StackCache::CaptureSlow(const Registers& registers, const NodeTable& table,
                                                 CaptureStatistics* statistics) {
  const int level = depth_;
  if (MALLOW_UNLIKELY(level == kContexts)) {
    ++statistics->captures;
    ++statistics->truncated;
    return {TruncatedPath(Truncation::kBusy, table), 0, nullptr};
  }
  depth_ = level + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const Captured captured = contexts_[level].Capture(registers, table, statistics);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if constexpr (kOracleBuild) CheckAgainstOracle(registers, captured.node);
  depth_ = level;
  return captured;
}

void StackCache::Forget() {
  for (CaptureContext& context : contexts_) context.Forget();
  depth_ = 0;
}

void StackCache::Unmap() {
  for (CaptureContext& context : contexts_) context.Unmap();
}

}  // namespace mallow::record
