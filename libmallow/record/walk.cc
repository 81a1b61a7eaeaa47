// From the frame of a capture outwards: the rule of each frame, its caller, and whether the last stack goes on from there.
#include "record/leaf_hit.h"
#include "record/mutant.h"
#include "record/stack_cache.h"

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

constexpr uint32_t kAllRegisters = 1u << kRbx | 1u << kRbp | 1u << kRsp | 1u << kR12 | 1u << kR13 |
                                   1u << kR14 | 1u << kR15 | 1u << kReturnAddress;
// What a walk by rules follows.
constexpr uint32_t kFollowedRegisters = 1u << kRbp | 1u << kRsp | 1u << kReturnAddress;

}  // namespace

void SetOwnText(uintptr_t start, uintptr_t end) {
  g_own_text_start = start;
  g_own_text_bytes = end - start;
}

bool InOwnText(uintptr_t pc) { return pc - g_own_text_start < g_own_text_bytes; }

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
  if (source.in_object || Is(Mutant::kOutsideRemembered)) {
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
    // A frame for which there is no room: no more of the stack could be told.
    const bool unknown = MALLOW_UNLIKELY(next == nullptr) && entry.id() == 0;
    if (unknown || !walked_.Reserve(1)) {
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
  if (frame.key != cursor.key && !Is(Mutant::kJoinOnSpAlone)) return false;
  if (frame.need_bp() && frame.bp != cursor.bp && !Is(Mutant::kJoinBpNotCompared)) return false;
  joined_ = candidates_ - 1;
  const uint32_t changed = Is(Mutant::kOuterWordsNotVerified) ? 0 : FindChanged(frame.words());
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
  const bool interrupted = from.rule.signal_frame() && !Is(Mutant::kSignalPcDecremented);
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

}  // namespace mallow::record
