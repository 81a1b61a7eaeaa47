// All stacks of the process as paths in one tree, shared by all threads.
//
// The tree itself lies in the recording (section steps): a path goes on in the next word, or begins with a head that names
// the node where it leaves another path. Here the steps are once more, each with a link. A node's first child as a rule lies
// behind it; those that begin a path of their own are in a list, of which the node has the first, and the head of each the
// next; for those of nodes that have more there is a hash from (parent, frame).
//
// Invariants
//  S1  A node is complete, here and in the recording, before it is published, by its step behind its parent, by a link
//      or by its id: a reader that sees one of these (acquire) sees the whole node, and so all of
//      a path that was made with it. Nothing is ever removed.
//  S2  A list that has kMostBranches children grows no more.
//  S3  A node behind which there is no step yet has no child.
//
// Thread safety: Path, Child and FindStack are lock-free on a hit. A miss takes the lock; it never allocates from the heap.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/hash.h"
#include "base/spinlock.h"
#include "record/block_array.h"
#include "record/frame_table.h"
#include "record/id_index.h"
#include "record/image_format.h"
#include "record/unwind.h"

namespace mallow::record {

class MappedFile;

// A dense stack id; the top bit tells that libc itself made the call (its blocks are kept apart).
using StackId = uint32_t;
inline constexpr StackId kLibcStack = 1u << 31;
inline constexpr StackId kNoStack = 0;
constexpr uint32_t StackIndex(StackId stack) { return stack & ~kLibcStack; }
constexpr bool IsLibcStack(StackId stack) { return (stack & kLibcStack) != 0; }

class StackTable {
 public:
  // For the first process, and for each later session: makes the root and stack 0. False: no memory.
  bool Init(MappedFile* file);
  // For a fork child: ids go on; new nodes go to `file`, which has been given parent_nodes and parent_stacks.
  void ContinueIn(MappedFile* file);
  Spinlock& lock() { return lock_; }

  // As NodeTable::frame; a new one takes the lock.
  FrameId Frame(uint64_t frame, uint32_t module) {
    const FrameItem item = FrameItem::Of(frame, module);
    const FrameId found = frames_.Find(item);
    return MALLOW_LIKELY(found != 0) ? found : AddFrame(item);
  }
  FrameItem FrameAt(FrameId frame) const { return frames_.At(frame); }
  // As NodeTable::path; a miss takes the lock once.
  NodeId Path(NodeId parent, PathStep* steps, size_t count) {
    const size_t found = FindPath(&parent, steps, count);
    return MALLOW_LIKELY(found == count) ? parent : Insert(parent, steps + found, count - found);
  }
  // As NodeTable::frames.
  size_t Frames(NodeId below, NodeId last, PathStep* steps, size_t most) const;
  // Node of `frame` (tag << 56 | value) with module id + 1 (0 none) below `parent`; kRoot when there is no room.
  NodeId Child(NodeId parent, uint64_t frame, uint32_t module) {
    PathStep step = {Frame(frame, module), kRoot};
    return step.frame != 0 ? Path(parent, &step, 1) : kRoot;
  }
  // The stack whose innermost frame is `caller` and that calls `function` within `region`; kNoStack if it is new.
  StackId FindStack(NodeId caller, Function function, uint32_t region = 0) const {
    const FrameId frame = FindFunction(function, region);
    const NodeId node = MALLOW_LIKELY(frame != 0) ? Find(caller, frame) : kRoot;
    return node == kRoot ? kNoStack : StackAt(node);
  }
  // The same, made if it is new; kNoStack when there is no room. `from_libc`: the call is libc's own.
  StackId AddStack(NodeId caller, Function function, bool from_libc, uint32_t region = 0);

  // Of the node of a function.
  StackId StackAt(NodeId node) const { return nodes_.At(node).link.load(std::memory_order_relaxed); }

  uint32_t node_count() const { return node_count_; }
  // Those below lie in an ancestor's file; what it has of them.
  uint32_t first_node() const { return first_node_; }
  uint32_t first_stack() const { return first_stack_; }
  void InheritedSteps(Step* steps) const;
  void InheritedStacks(uint32_t* nodes) const;
  // Also the id of the next stack that is made.
  uint32_t stack_count() const { return __atomic_load_n(&stack_count_, __ATOMIC_RELAXED); }

 private:
  // A step, and what a reader needs besides: of a node the first of those of its children that begin a path, of the node of a
  // function its stack, with the bit of its origin, and of a head the next of its parent's children.
  struct Node {
    std::atomic<uint32_t> step;
    std::atomic<uint32_t> link;

    Step Load() const { return {step.load(std::memory_order_relaxed)}; }
    void Set(Step to) { step.store(to.word, std::memory_order_relaxed); }
  };
  static_assert(sizeof(Node) == 8);

  static constexpr uint64_t FunctionFrame(Function function, uint32_t region) {
    return kTagFunction << 56 | uint64_t{region} << 16 | static_cast<uint64_t>(function);
  }
  FrameId FindFunction(Function function, uint32_t region) const {
    const auto number = static_cast<size_t>(function);
    return MALLOW_LIKELY(region == 0) ? functions_[number].load(std::memory_order_acquire)
                                      : frames_.Find(FrameItem::Of(FunctionFrame(function, region), 0));
  }
  static uint32_t Hash(NodeId parent, FrameId frame) {
    return static_cast<uint32_t>(HashWord(uint64_t{parent} << 32 | frame) >> 32);
  }
  // kRoot: none, or none that was published yet.
  MALLOW_ALWAYS_INLINE NodeId Find(NodeId parent, FrameId frame) const {
    const Node* const behind = nodes_.Next(parent + 1);
    const uint32_t step = behind != nullptr ? behind->step.load(std::memory_order_acquire) : 0;
    if (MALLOW_LIKELY(step == frame)) return parent + 1;
    if (step == 0) return kRoot;
    unsigned branches = 0;
    NodeId child = nodes_.At(parent).link.load(std::memory_order_acquire);
    for (; child != kRoot; ++branches) {
      if (nodes_.At(child).Load().word == frame) return child;
      child = nodes_.At(child - 1).link.load(std::memory_order_relaxed);
    }
    return MALLOW_LIKELY(branches < kMostBranches) ? kRoot : FindFurther(parent, frame);
  }
  // How many of the frames have nodes; `node` becomes the last of those.
  MALLOW_ALWAYS_INLINE size_t FindPath(NodeId* node, PathStep* steps, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      const NodeId found = Find(*node, steps[i].frame);
      if (found == kRoot) return i;
      *node = steps[i].node = found;
    }
    return count;
  }
  NodeId FindFurther(NodeId parent, FrameId frame) const;

  MALLOW_NOINLINE NodeId Insert(NodeId parent, PathStep* steps, size_t count);
  MALLOW_COLD FrameId AddFrame(FrameItem frame);
  // The next seven: with the lock held.
  FrameId AddFunction(Function function, uint32_t region);
  NodeId Begin(NodeId parent, size_t count, bool of_function = false);
  bool IsShort(NodeId parent, size_t count) const;
  bool IsSpare(NodeId node) const;
  Step* Recorded(NodeId node) const;
  void End(NodeId first, size_t count);
  bool Publish(NodeId parent, NodeId child, FrameId frame);

  void NoteVforkChild();

  static constexpr unsigned kMostBranches = 7;
  static constexpr size_t kMostNodes = size_t{1} << 24;
  // This part of the nodes is spared for the functions of stacks and for short paths (unwind.h): what is counted when all
  // others are taken still has a function, and as a rule its innermost callers.
  static constexpr uint64_t kSparePart = 16;

  FrameTable frames_;
  std::atomic<FrameId> functions_[static_cast<size_t>(Function::kFreeNull) + 1] =
      {};  // outside of all regions
  BlockArray<Node, kMostNodes> nodes_;
  IdIndex further_;          // of nodes that have more children than a list
  uint32_t node_count_ = 0;  // next id, heads included; ids below first_node_ lie in an ancestor's file
  uint32_t first_node_ = 0;
  uint32_t stack_count_ = 0;
  uint32_t first_stack_ = 0;
  MappedFile* file_ = nullptr;
  uint64_t last_vfork_child_ = 0;
  uint32_t vforks_ = 0;        // as of the last question
  uint32_t stacks_asked_ = 0;  // since the last vfork
  // Taken for each new path, so without blocking signals (quiet_holder.h): nobody waits for it with a lock of his own.
  Spinlock lock_{LockRank::kStackTable};
};

}  // namespace mallow::record
