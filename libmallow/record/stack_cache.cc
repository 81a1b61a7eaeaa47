#include "record/stack_cache.h"

#include "base/bits.h"
#include "record/leaf_hit.h"
#include "record/module_generation.h"
#include "record/mutant.h"
#include "record/oracle_hook.h"

namespace mallow::record {

namespace {

bool UsesBp(RuleKind kind) {
  return kind == RuleKind::kFromBp || kind == RuleKind::kRealigned || kind == RuleKind::kInterpreted;
}

// After a walk of so many frames its array is given back: the next one may be long in coming.
constexpr size_t kLargeWalk = 16384;

}  // namespace

NodeId TruncatedPath(Truncation why, const NodeTable& table) {
  PathStep step = {table.frame(table.self, kTagTruncated << 56 | static_cast<uint64_t>(why), 0), kRoot};
  return step.frame != 0 ? table.path(table.self, kRoot, &step, 1) : kRoot;
}

// --- One capture ------------------------------------------------------------------------------

Captured CaptureContext::Capture(const Registers& registers, const NodeTable& table,
                                 CaptureStatistics* statistics) {
  const uint64_t generation = ModuleGeneration();
  if (MALLOW_UNLIKELY(generation_ != generation) && !Is(Mutant::kGenerationIgnored)) Flush(generation);
  if (MALLOW_UNLIKELY(base_outside_objects_)) ForgetLastStack();
  memory_.Begin(registers.sp);
  ++statistics->captures;
  Captured captured;
  if (CaptureByLeaf(registers, table, statistics, &captured)) return captured;
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
  if (!Is(Mutant::kRulesOutliveObjects)) rules_.Clear();
  if (!Is(Mutant::kRecentRulesOutliveObjects)) recent_rules_ = {};
  if (!Is(Mutant::kProgressOutlivesObjects)) scratch_.progress = {};
  scratch_.tables_ends = {};
  if (!Is(Mutant::kLeavesOutliveObjects)) {
    FlushLeaves();
    wrappers_ = {};
  }
  if (!Is(Mutant::kLastStackOutlivesObjects)) ForgetLastStack();
  generation_ = generation;
}

void CaptureContext::FlushLeaves() {
  leaves_.Clear();
  leaf_generation_ = 0;
  newest_leaf_ = guess_ = led_astray_ = nullptr;
}

// What was found in the last stack is no more known of the one that comes. The numbers begin anew after 2^32 of them.
MALLOW_ALWAYS_INLINE void CaptureContext::BeginLastStack() {
  if (Is(Mutant::kLeafJoinRemembered)) return;
  if (MALLOW_UNLIKELY(++last_stack_ == 0)) FlushLeaves();
}

void CaptureContext::ForgetLastStack() {
  BeginLastStack();
  frames_.Truncate(0);
  words_.Truncate(0);
  base_outside_objects_ = false;
  plain_home_ = 0;
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
    if (MALLOW_UNLIKELY(!memory_.InOwnRange(address)) && !Is(Mutant::kStackBoundsIgnored)) plain_home_ = 0;
  };
  const Rule rule = frame.rule;
  const uintptr_t bp_offset = static_cast<uintptr_t>(intptr_t{rule.bp});
  const bool add_bp = rule.saves_bp() && need_bp && !Is(Mutant::kSavedBpNotVerified);
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
