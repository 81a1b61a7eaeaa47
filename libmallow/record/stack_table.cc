#include "record/stack_table.h"

#include "base/config.h"
#include "os/memory.h"
#include "os/thread.h"
#include "record/mapped_file.h"

namespace mallow::record {
namespace {

constexpr uint64_t kFirstSlots = 4096;
constexpr uint32_t kLetGoNodes = 1 << 16;  // 1 MiB

// The first stacks of a file are each looked at for a vfork child, and then one of so many.
constexpr uint32_t kStacksAsked = 1024, kStacksPerQuestion = 16;

}  // namespace

bool StackTable::Init(MappedFile* file) {
  file_ = file;
  nodes_.Clear();
  if (!nodes_.MakeRoom(kRoot)) {
    file->header()->incomplete |= kNodesFull;
    return false;
  }
  if (!file->Grow(Section::kNodes, 1, kNodesFull) || !file->Grow(Section::kStacks, 1, kStacksFull))
    return false;
  file->SetUsed(Section::kNodes, 1);   // the root: all zero, as a sparse file is
  file->SetUsed(Section::kStacks, 1);  // "not recorded"
  node_count_ = stack_count_ = 1;
  first_node_ = first_stack_ = 0;
  ClearFurther();
  last_vfork_child_ = 0;
  return true;
}

void StackTable::ContinueIn(MappedFile* file) {
  lock_.ResetInChild();
  file_ = file;
  first_node_ = node_count_;
  first_stack_ = stack_count_;
  last_vfork_child_ = 0;
}

NodeId StackTable::FindFurther(NodeId parent, uint64_t key) const {
  Index* index = further_.load(std::memory_order_acquire);
  if (index == nullptr) return kRoot;
  for (uint64_t i = Hash(parent, key);; i++) {
    const Slot& slot = index->slots()[i & index->mask];
    const NodeId child = slot.child.load(std::memory_order_acquire);
    if (child == kRoot || (slot.key == key && slot.parent == parent)) return child;
  }
}

NodeId StackTable::Insert(NodeId parent, PathStep* steps, size_t count) {
  SpinlockHolder holder(lock_);
  const size_t found = FindPath(&parent, steps, count);
  if (found == count) return parent;
  const NodeId first = NewPath(parent, steps + found, count - found);
  return first != kRoot && Publish(parent, first) ? steps[count - 1].node : kRoot;
}

StackId StackTable::AddStack(NodeId caller, Function function, bool from_libc, uint32_t region) {
  SpinlockHolder holder(lock_);
  const uint32_t item = stack_count_ - first_stack_;
  if (item < kStacksAsked || item % kStacksPerQuestion == 0) NoteVforkChild();
  if (StackId found = FindStack(caller, function, region)) return found;
  if (!file_->Grow(Section::kStacks, item + 1, kStacksFull)) return kNoStack;
  const uint32_t id = stack_count_;
  PathStep step = {FunctionFrame(function, region), id, kRoot};
  const NodeId node = NewPath(caller, &step, 1);
  if (node == kRoot) return kNoStack;
  file_->Items<uint32_t>(Section::kStacks)[item] = node;
  file_->SetUsed(Section::kStacks, item + 1);
  __atomic_store_n(&stack_count_, id + 1, __ATOMIC_RELAXED);
  const StackId stack = id | (from_libc ? kLibcStack : 0);
  nodes_.At(node).first_child.store(stack, std::memory_order_relaxed);
  return Publish(caller, node) ? stack : kNoStack;
}

// Nodes below `parent`, which has no such child; they know each other, but nobody else knows the first. Returns that. A
// function's step has its stack in the place of the module.
NodeId StackTable::NewPath(NodeId parent, PathStep* steps, size_t count) {
  const NodeId first = node_count_;
  const auto end = static_cast<NodeId>(first + count);
  const uint32_t item = first - first_node_;
  const auto items = static_cast<uint32_t>(item + count);
  if (!nodes_.MakeRoom(first) || !nodes_.MakeRoom(end - 1)) {
    file_->header()->incomplete |= kNodesFull;
    return kRoot;
  }
  if (!file_->Grow(Section::kNodes, items, kNodesFull)) return kRoot;
  Node* const nodes = file_->Items<Node>(Section::kNodes) + item;
  for (size_t i = 0; i < count; ++i) {
    PathStep& step = steps[i];
    step.node = static_cast<NodeId>(first + i);
    nodes[i] = Node{step.frame, parent, step.module};
    NodeArray::Links& links = nodes_.At(step.node);
    links.key = step.frame >> 56 == kTagFunction ? Key(step.frame, 0) : Key(step.frame, step.module);
    if (i != 0) {
      nodes_.At(parent).first_child.store(step.node, std::memory_order_relaxed);
      links.sibling_and_place.store(NodeArray::kBehindParent, std::memory_order_relaxed);
    }
    parent = step.node;
  }
  node_count_ = end;
  file_->SetUsed(Section::kNodes, items);
  // What finds a node is in nodes_: the file is for its readers.
  const uint32_t kept_from = items / kLetGoNodes * kLetGoNodes;
  if (MALLOW_UNLIKELY(kept_from > item))
    file_->LetGo(Section::kNodes, item / kLetGoNodes * kLetGoNodes, kept_from);
  return first;
}

// False: there is no room among further children. Then the node stays in the recording, where nobody refers to it.
bool StackTable::Publish(NodeId parent, NodeId child) {
  std::atomic<NodeId>& first = nodes_.At(parent).first_child;
  NodeArray::Links& links = nodes_.At(child);
  const uint32_t place = child == parent + 1 ? NodeArray::kBehindParent : 0;
  unsigned siblings = 0;
  for (NodeId node = first.load(std::memory_order_relaxed); node != kRoot; ++siblings) {
    node = nodes_.At(node).next_sibling();
  }
  if (siblings < kMostSiblings) {
    links.sibling_and_place.store(first.load(std::memory_order_relaxed) | place, std::memory_order_release);
    first.store(child, std::memory_order_release);
    return true;
  }
  if (!MakeRoomForFurther()) return false;
  links.sibling_and_place.store(place, std::memory_order_release);
  Put(further_.load(std::memory_order_relaxed), parent, links.key, child);
  return true;
}

// Keeps the hash at most half full: linear probing stays short.
bool StackTable::MakeRoomForFurther() {
  Index* old = further_.load(std::memory_order_relaxed);
  if (old != nullptr && filled_ * 2 <= old->mask) return true;
  Index* wider = NewIndex(old == nullptr ? kFirstSlots : (old->mask + 1) * 2);
  if (wider == nullptr) return old != nullptr && filled_ < old->mask - old->mask / 8;
  filled_ = 0;
  for (uint64_t i = 0; old != nullptr && i <= old->mask; i++) {
    const Slot& slot = old->slots()[i];
    const NodeId child = slot.child.load(std::memory_order_relaxed);
    if (child != kRoot) Put(wider, slot.parent, slot.key, child);
  }
  further_.store(wider, std::memory_order_release);
  return true;
}

void StackTable::Put(Index* index, NodeId parent, uint64_t key, NodeId child) {
  uint64_t i = Hash(parent, key) & index->mask;
  while (index->slots()[i].child.load(std::memory_order_relaxed) != kRoot) i = (i + 1) & index->mask;
  Slot& slot = index->slots()[i];
  slot.key = key;
  slot.parent = parent;
  slot.child.store(child, std::memory_order_release);
  filled_++;
}

// That of the session before, if there was one, stays where it is: a thread may be late.
void StackTable::ClearFurther() {
  Index* index = further_.load(std::memory_order_relaxed);
  filled_ = 0;
  if (index == nullptr) return;
  const uint64_t mask = index->mask;
  const bool cleared = os::Release(index, sizeof(Index) + (mask + 1) * sizeof(Slot));
  index->mask = mask;
  if (!cleared) further_.store(nullptr, std::memory_order_relaxed);
}

StackTable::Index* StackTable::NewIndex(uint64_t slots) {
  void* memory = os::Map(nullptr, sizeof(Index) + slots * sizeof(Slot));
  if (memory == nullptr) return nullptr;
  Index* index = static_cast<Index*>(memory);
  index->mask = slots - 1;
  return index;
}

// A vfork child shares our memory and counts here, which the report has to say. Nothing but a system call tells it from
// its parent, and new stacks are where that is cheap enough.
void StackTable::NoteVforkChild() {
  const uint64_t pid = os::ProcessId();
  if (MALLOW_LIKELY(pid == file_->header()->pid) || pid == last_vfork_child_) return;
  last_vfork_child_ = pid;
  file_->header()->vfork_children++;
}

}  // namespace mallow::record
