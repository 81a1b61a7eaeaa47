// All stacks of the process as paths in one tree, shared by all threads.
//
// The tree itself lies in the recording (section nodes). Here is what finds a child: each node's list of its first
// children (node_array.h), and for those of nodes that have more an open-addressing hash from (parent, frame, module).
//
// Invariants
//  S1  A node is complete, here and in the recording, before it is published, by the word that says that it lies behind
//      its parent or by its id: a reader that sees the one or the other (acquire) sees the whole node, and so all of
//      a path that was made with it. Nothing is ever removed.
//  S2  A list that has kMostSiblings children grows no more.
//  S3  When the hash grows, a new array replaces the old one, which stays mapped: readers may still be in it.
//      What they miss there they look up again under the lock.
//
// Thread safety: Path, Child and FindStack are lock-free on a hit. A miss takes the lock; it never allocates from the heap.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/hash.h"
#include "base/spinlock.h"
#include "record/image_format.h"
#include "record/node_array.h"
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

  // As NodeTable::path; a miss takes the lock once.
  NodeId Path(NodeId parent, PathStep* steps, size_t count) {
    const size_t found = FindPath(&parent, steps, count);
    return MALLOW_LIKELY(found == count) ? parent : Insert(parent, steps + found, count - found);
  }
  // Node of `frame` (tag << 56 | value) with module id + 1 (0 none) below `parent`; kRoot when there is no room.
  NodeId Child(NodeId parent, uint64_t frame, uint32_t module) {
    PathStep step = {frame, module, kRoot};
    return Path(parent, &step, 1);
  }
  // The stack whose innermost frame is `caller` and that calls `function` within `region`; kNoStack if it is new.
  StackId FindStack(NodeId caller, Function function, uint32_t region = 0) const {
    const NodeId node = Find(caller, Key(FunctionFrame(function, region), 0));
    return node == kRoot ? kNoStack : nodes_.At(node).first_child.load(std::memory_order_acquire);
  }
  // The same, made if it is new; kNoStack when there is no room. `from_libc`: the call is libc's own.
  StackId AddStack(NodeId caller, Function function, bool from_libc, uint32_t region = 0);

  uint32_t node_count() const { return node_count_; }
  // Also the id of the next stack that is made.
  uint32_t stack_count() const { return __atomic_load_n(&stack_count_, __ATOMIC_RELAXED); }

 private:
  struct Slot {
    uint64_t key;
    uint32_t parent;
    std::atomic<NodeId> child;  // kRoot: empty
  };
  static_assert(sizeof(Slot) == 16);
  struct Index {
    uint64_t mask;
    Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
    uint64_t padding;
  };
  static_assert(sizeof(Index) == 16);

  // 48 bits of value, 13 of module, 3 of tag: why there are at most kMaxModules modules.
  static uint64_t Key(uint64_t frame, uint32_t module) {
    return (frame & 0xffff'ffff'ffff) | static_cast<uint64_t>(module) << 48 | frame >> 56 << 61;
  }
  static uint64_t Hash(uint32_t parent, uint64_t key) {
    const uint64_t x = HashToTop(key ^ (static_cast<uint64_t>(parent) << 32 | parent));
    return x ^ x >> 29;
  }
  // kRoot: none, or none that was published yet.
  MALLOW_ALWAYS_INLINE NodeId Find(NodeId parent, uint64_t key) const {
    const NodeArray::Links* const behind = nodes_.Behind(parent);
    if (MALLOW_LIKELY(behind != nullptr) && behind->behind_parent() && behind->key == key) return parent + 1;
    unsigned siblings = 0;
    for (NodeId node = nodes_.At(parent).first_child.load(std::memory_order_acquire); node != kRoot;
         ++siblings) {
      const NodeArray::Links& links = nodes_.At(node);
      if (links.key == key) return node;
      node = links.next_sibling();
    }
    return MALLOW_LIKELY(siblings < kMostSiblings) ? kRoot : FindFurther(parent, key);
  }
  // How many of the frames have nodes; `node` becomes the last of those.
  MALLOW_ALWAYS_INLINE size_t FindPath(NodeId* node, PathStep* steps, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      const NodeId found = Find(*node, Key(steps[i].frame, steps[i].module));
      if (found == kRoot) return i;
      *node = steps[i].node = found;
    }
    return count;
  }
  NodeId FindFurther(NodeId parent, uint64_t key) const;

  static uint64_t FunctionFrame(Function function, uint32_t region) {
    return kTagFunction << 56 | uint64_t{region} << 16 | static_cast<uint64_t>(function);
  }
  MALLOW_NOINLINE NodeId Insert(NodeId parent, PathStep* steps, size_t count);
  // The next four: with the lock held.
  NodeId NewPath(NodeId parent, PathStep* steps, size_t count);
  bool Publish(NodeId parent, NodeId child);
  bool MakeRoomForFurther();
  void Put(Index* index, NodeId parent, uint64_t key, NodeId child);

  void ClearFurther();
  static Index* NewIndex(uint64_t slots);
  void NoteVforkChild();

  static constexpr unsigned kMostSiblings = 8;

  NodeArray nodes_;
  std::atomic<Index*> further_{nullptr};  // null: no node has so many children yet
  uint64_t filled_ = 0;                   // slots of it
  uint32_t node_count_ = 0;               // next id; ids below first_node_ lie in an ancestor's file
  uint32_t first_node_ = 0;
  uint32_t stack_count_ = 0;
  uint32_t first_stack_ = 0;
  MappedFile* file_ = nullptr;
  uint64_t last_vfork_child_ = 0;
  // Taken for each new node, so without blocking signals (quiet_holder.h): nobody waits for it with a lock of his own.
  Spinlock lock_{LockRank::kStackTable};
};

inline constexpr uint32_t kMaxModules = 8190;

}  // namespace mallow::record
