// The last stack of a thread, and what of it still holds.
//
// Why the result is exact. An unwinder is a function of pc, sp and rbp where it starts, of the unwind tables, and of the
// words of memory that it reads. So when pc and sp (and rbp, where it matters) at some frame are what they were
// in an earlier capture, and every word that was read from there outwards still holds the same value, then
// the rest of the stack is the same. Nothing else is assumed: not that it is the same activation, nor that
// frames are static. alloca, longjmp, exceptions, coroutines and signal stacks need no case of their own: each changes
// a word, or misses the key, or leaves the answer as it was.
//
// rbp at a frame matters ("is live") if the frame's CFA comes from it, or if the frame does not save it and it is live at
// the caller. Where it is dead it is neither compared nor are the words that restore it.
//
// Invariants
//  I1  frames_[i].node is the path of frames_[0..i] (outermost first) below the base.
//  I2  words_[0, frames_[i].words) are all words that an unwind from frame i outwards reads, but for those that
//      restore a dead rbp; the later in the array, the earlier the unwind reads them.
//  I3  Nothing of the last stack is used before its words were compared in this capture, from the inside outwards and
//      only as far as they are equal: so each comparison reads a word that an unwind would read as well.
//  I4  A leaf entry (leaf_cache.h) holds all words of its frames as I2 says. Its words are compared some at a time, so
//      that one may be read to which the others do not lead any more: all lie on the stack of its start, no frame of it
//      being one that goes on to another stack.
//      Which frame of the last stack it joins at is looked up once, and holds as long as that is the last stack. It
//      need not be of the path that it was: with pc, sp and (if live) rbp as the entry's words say, the frames of the
//      entry are its callees, whoever called it.
//  I5  Whatever comes from the unwind tables carries the generation of the loaded objects.
//  I6  A hit takes no lock, allocates nothing and makes no system call. A handler that interrupts a capture captures
//      in the second context; one that interrupts that one gets a path that is marked as truncated (kBusy).
//
// What cannot be unwound is marked truncated and never guessed: the path starts with a frame of tag kTagTruncated, then
// come the frames that are known.
#pragma once

#include "base/config.h"
#include "record/dwarf_expression.h"
#include "record/leaf_cache.h"
#include "record/mapped_array.h"
#include "record/mutant.h"
#include "record/recent_rules.h"
#include "record/rule_cache.h"
#include "record/stack_memory.h"
#include "record/unwind.h"
#include "record/wrappers.h"

namespace mallow::record {

struct Captured {
  NodeId node;
  FrameId caller;  // if a walk has met it; else 0
  NodeMemo* memo;  // beside that node until the next capture of the thread; null: there is none
};

class CaptureContext;

// A Start (see TryLeaf) of which all is known.
struct StartAt {
  CaptureContext& of;
  uintptr_t at_pc, at_sp, at_bp;

  uintptr_t pc() const { return at_pc; }
  uintptr_t sp() const { return at_sp; }
  uintptr_t bp() const { return at_bp; }
  CaptureContext& context() const { return of; }
};

// One walk at a time. All zero is the empty state.
class CaptureContext {
 public:
  // The leaf entry for what begins at `start`, if everything is as it was when that was made; else null. Its node is the
  // result. A Start tells pc(), sp() and bp(), and has this context(): so only who needs them computes them.
  template <typename Start>
  static LeafEntry* TryLeaf(Start start);
  // It was: true if that stack is truncated.
  MALLOW_ALWAYS_INLINE bool TakeLeaf(LeafEntry& leaf) {
    if (guess_ != &leaf) leaves_.SetNext(past_, *newest_leaf_, leaf);
    SetNewest(leaf);
    guess_ = leaves_.NextOf(past_, leaf);
    LeafCache::Prefetch(*guess_);
    return base_truncated_;
  }
  // By a walk.
  Captured Capture(const Registers& registers, const NodeTable& table, CaptureStatistics* statistics);

  // The next capture starts on another thread's stack.
  void Forget();
  // Gives all memory back.
  void Unmap();

 private:
  Captured CaptureByWalk(const Registers& registers, const NodeTable& table, CaptureStatistics* statistics);

  // A frame as the walk reaches it.
  struct Cursor {
    FrameKey key;
    uintptr_t sp, bp;
  };
  // A frame that this capture walked, innermost first. For an interpreted frame rule.cfa is the index of its
  // first word in interpreted_words_, rule.bp their number.
  struct WalkedFrame : RuleEntry {
    uintptr_t sp, bp;
  };
  // A frame of the last stack, outermost first.
  struct Frame {
    FrameKey key;
    uintptr_t sp, bp;
    NodeId node;
    uint32_t words_and_need;  // I2; lowest bit: rbp is live

    uint32_t words() const { return words_and_need >> 1; }
    bool need_bp() const { return words_and_need & 1; }
  };
  // How a walk ended.
  enum class End : uint8_t {
    kJoined,           // at frames_[joined_]
    kOutermost,        // the tables say that there is no caller
    kZeroReturn,       // a return address of 0: the stack was made to end there
    kTruncated,        // why is in truncation_
    kUnknownRegister,  // a rule needs a register that a walk by rules does not follow
  };
  enum class Advance : uint8_t { kDone, kEnd };

  bool CaptureByLeaf(const Registers& registers, const NodeTable& table, CaptureStatistics* statistics,
                     Captured* captured);
  const Frame* FindJoinAnyhow(const LeafEntry& leaf) const;
  void Flush(uint64_t generation);
  void FlushLeaves();
  void ForgetLastStack();
  void BeginLastStack();
  const RuleEntry& FindRule(FrameKey key, const NodeTable& table);
  const RuleEntry& NewRule(FrameKey key, const NodeTable& table);
  void KeepRule();
  const RuleEntry* FindNextRule(FrameKey key, const NodeTable& table, RuleEntry** next);
  RuleEntry* BeginChain(FrameKey key, const NodeTable& table);

  End Walk(Cursor cursor, const NodeTable& table);
  bool TryJoin(const Cursor& cursor);
  // Whether all words of the entry and of the last stack lie at one home (stack_memory.h), where the start is.
  MALLOW_ALWAYS_INLINE bool IsAtHome(const LeafEntry& leaf) const { return leaf.home == plain_home_; }
  // Whether the entry is one for what begins at these registers.
  template <typename Start>
  MALLOW_ALWAYS_INLINE bool IsOfStart(const LeafEntry& leaf, const Start& start) const {
    return leaf.BeginsAt(start.pc(), start.sp()) && IsAtHome(leaf) &&
           (MALLOW_LIKELY(!leaf.need_bp) || leaf.bp == start.bp() || Is(Mutant::kLeafBpNotCompared));
  }
  MALLOW_ALWAYS_INLINE bool FindJoin(LeafEntry& leaf) const;
  // Where a search for that start begins.
  MALLOW_ALWAYS_INLINE MALLOW_NO_SANITIZE size_t FirstHash(uintptr_t pc, uintptr_t sp) const;
  void NoteWrapper(const Frame& start);
  LeafEntry* TryLeafAt(size_t* hash, const StartAt& start) const;
  LeafEntry* Search(uintptr_t pc, uintptr_t sp, uintptr_t bp);
  template <typename Start>
  static MALLOW_NOINLINE LeafEntry* SearchFrom(Start start);
  MALLOW_ALWAYS_INLINE void SetNewest(LeafEntry& leaf) {
    newest_leaf_ = &leaf;
    past_ = LeafCache::PastWith(past_, leaf);
  }
  LeafEntry* ForgetGuess(LeafEntry& leaf);
  template <typename Start>
  static MALLOW_NOINLINE LeafEntry* ForgetGuessOf(Start start, LeafEntry& leaf);
  NodeMemo* RememberLeaf(NodeId node);
  bool FitsLeaf(const Frame& join, const StackWord* words, size_t count, uintptr_t origin) const;
  uint8_t PlaceOfJoinBp(const Frame& join, const StackWord* words, size_t count, bool paired) const;
  LeafEntry* RoomForLeaf(const Frame& start, unsigned group_count);
  uint32_t FindChanged(uint32_t words);
  uint32_t FindChangedAnywhere(uint32_t words);
  Advance Step(const WalkedFrame& frame, Cursor* cursor);
  Advance StepRare(WalkedFrame frame);
  Advance StepInterpreted(const WalkedFrame& frame);
  Advance EndWith(End end) {
    end_ = end;
    return Advance::kEnd;
  }
  Advance EndTruncated(Truncation why) {
    truncation_ = why;
    return EndWith(End::kTruncated);
  }
  Advance Arrive(const WalkedFrame& from, uintptr_t pc, uintptr_t sp, uintptr_t bp);
  bool Progresses(uintptr_t from_sp, const Cursor& to, bool signal_frame);

  NodeId Remember(End end, const NodeTable& table);
  void FindHome();
  StackWord* RememberWords(const WalkedFrame& frame, const Cursor& caller, bool need_bp, StackWord* next);
  NodeId NodesOfWalk(NodeId base, Frame* frames, const NodeTable& table);
  NodeId PathOfWalk(NodeId base, const NodeTable& table);
  NodeId ShortPath(const NodeTable& table);

  NodeId CaptureInterpreted(const Registers& registers, const NodeTable& table,
                            CaptureStatistics* statistics);
  End WalkInterpreted(const Registers& registers, const NodeTable& table);
  Interpretation RecoverFromSignal(const RegisterFile& registers, RegisterFile* caller);

  // What a leaf entry that is hit needs, in two cache lines.
  alignas(kCacheLineBytes) uint64_t leaf_generation_ = 0;  // that of leaves_; 0: it has no entry
  LeafCache leaves_;
  // The entry that was hit or made last, and the one that may follow it, which is tried before all others. Not null while
  // leaf_generation_ is not 0.
  LeafEntry* newest_leaf_ = nullptr;
  LeafEntry* guess_ = nullptr;
  // One whose own words were as they were while it led to no frame that is still there, until the next capture by this
  // context. Null: there is none.
  LeafEntry* led_astray_ = nullptr;
  // The last stack.
  MappedArray<Frame> frames_;
  MappedArray<StackWord> words_;  // the first kPaddingWords of them never change
  uint32_t plain_home_ = 0;       // where all words lie, if it is one place (stack_memory.h); else 0
  uint32_t last_stack_ = 0;       // its number: another one whenever anything of it changes
  uint32_t past_ = 0;             // of the leaf entries, with the newest
  NodeId base_ = kRoot;           // parent of the outermost frame
  bool base_truncated_ = false;
  bool base_outside_objects_ = false;  // truncated at a pc that no object had then

  uint64_t generation_ = 0;
  RuleCache rules_;
  RecentRules recent_rules_;
  // Where the latest search ended.
  struct {
    FrameKey key;
    uintptr_t sp;  // 0: it was not in vain, or a walk followed it
    size_t hash;
    unsigned hops;  // before the last one
  } searched_{};
  Wrappers wrappers_;
  StackMemory memory_;

  // This capture.
  MappedArray<WalkedFrame> walked_;
  MappedArray<StackWord> interpreted_words_;
  static constexpr size_t kStepsAtOnce = 32;
  PathStep steps_[kStepsAtOnce] = {};  // of which the nodes are asked for
  bool outside_objects_ = false;       // met a pc that no object has
  size_t candidates_ = 0;              // frames_[0, candidates_) may still join
  size_t joined_ = 0;
  Cursor caller_{};  // where the latest step that was not common led to
  End end_ = End::kOutermost;
  Truncation truncation_ = Truncation::kNoUnwindInfo;
  uint64_t switches_ = 0;  // steps to another stack, to find a chain that runs in a circle
  Cursor milestone_{};

  RuleEntry uncached_rule_{};
  WordLog log_{};
  UnwindScratch scratch_{};
};

// One per thread, in zeroed memory; no other initialisation. Used by its owner alone, also from its signal
// handlers.
class StackCache {
 public:
  // The node of the whole stack of the frame `registers`, innermost frame last. kRoot only if `table` has no
  // room for anything. Costs a few instructions per frame that is unchanged since the last capture.
  Captured CaptureWithMemo(const Registers& registers, const NodeTable& table, CaptureStatistics* statistics);
  NodeId Capture(const Registers& registers, const NodeTable& table, CaptureStatistics* statistics) {
    return CaptureWithMemo(registers, table, statistics).node;
  }

  // The entry of a stack that a leaf entry knows; else null, and the next capture of these registers does not search again.
  // Only while no signal handler of the owner can come to a capture. Nothing has happened; TakeHit makes it a capture.
  template <typename Start>
  MALLOW_ALWAYS_INLINE LeafEntry* TryHit(Start start) {
    LeafEntry* const leaf = CaptureContext::TryLeaf(start);
    if (MALLOW_UNLIKELY(leaf == nullptr)) searched_sp_ = start.sp();
    return leaf;
  }
  // Where that one looks.
  CaptureContext& context() { return contexts_[0]; }
  // True: of a truncated stack.
  MALLOW_ALWAYS_INLINE bool TakeHit(LeafEntry& leaf) { return contexts_[0].TakeLeaf(leaf); }

  // Between two owners: the next one has another stack. Rules are kept.
  void Forget();
  // Gives all memory back; the cache is empty afterwards and may be used again.
  void Unmap();

 private:
  Captured CaptureSlow(const Registers& registers, const NodeTable& table, CaptureStatistics* statistics);

  static constexpr int kContexts = 2;
  // Captures of this thread under way. A handler that leaves a capture by longjmp leaves the allocator broken, as
  // with any malloc; here it only costs that context for good.
  int depth_ = 0;
  // Where TryHit has just searched in vain; 0: nowhere. What is taken for it by mistake is walked.
  uintptr_t searched_sp_ = 0;
  CaptureContext contexts_[kContexts];
};

}  // namespace mallow::record
