#include "record/stack_table.h"

#include "base/config.h"
#include "os/memory.h"
#include "os/thread.h"
#include "record/mapped_file.h"

namespace mallow::record {
namespace {

constexpr uint64_t kFirstSlots = 4096;

}  // namespace

bool StackTable::Init(MappedFile* file) {
  file_ = file;
  Index* index = NewIndex(kFirstSlots);
  if (index == nullptr) return false;
  if (!file->Grow(Section::kNodes, 1, kNodesFull) || !file->Grow(Section::kStacks, 1, kStacksFull))
    return false;
  file->SetUsed(Section::kNodes, 1);   // the root: all zero, as a sparse file is
  file->SetUsed(Section::kStacks, 1);  // "not recorded"
  node_count_ = stack_count_ = 1;
  index_.store(index, std::memory_order_release);
  return true;
}

void StackTable::ContinueIn(MappedFile* file) {
  lock_.ResetInChild();
  file_ = file;
  first_node_ = node_count_;
  first_stack_ = stack_count_;
  last_vfork_child_ = 0;
}

NodeId StackTable::Insert(NodeId parent, uint64_t frame, uint32_t module) {
  SpinlockHolder holder(lock_);
  NoteVforkChild();
  const uint64_t key = Key(frame, module);
  if (NodeId found = Find(parent, key)) return found;
  if (!MakeRoom()) return kRoot;
  const NodeId node = NewNode(parent, frame, module);
  if (node != kRoot) Put(index_.load(std::memory_order_relaxed), parent, key, node);
  return node;
}

StackId StackTable::AddStack(NodeId caller, Function function, bool from_libc, uint32_t region) {
  SpinlockHolder holder(lock_);
  NoteVforkChild();
  const uint64_t frame = FunctionFrame(function, region);
  const uint64_t key = Key(frame, 0);
  if (StackId found = Find(caller, key)) return found;
  const uint32_t item = stack_count_ - first_stack_;
  if (!MakeRoom() || !file_->Grow(Section::kStacks, item + 1, kStacksFull)) return kNoStack;
  const uint32_t id = stack_count_;
  const NodeId node = NewNode(caller, frame, id);
  if (node == kRoot) return kNoStack;
  file_->Items<uint32_t>(Section::kStacks)[item] = node;
  file_->SetUsed(Section::kStacks, item + 1);
  stack_count_++;
  const StackId stack = id | (from_libc ? kLibcStack : 0);
  Put(index_.load(std::memory_order_relaxed), caller, key, stack);
  return stack;
}

NodeId StackTable::NewNode(NodeId parent, uint64_t frame, uint32_t extra) {
  const uint32_t item = node_count_ - first_node_;
  if (!file_->Grow(Section::kNodes, item + 1, kNodesFull)) return kRoot;
  file_->Items<Node>(Section::kNodes)[item] = Node{frame, parent, extra};
  file_->SetUsed(Section::kNodes, item + 1);
  return node_count_++;
}

// Keeps the index at most half full: linear probing stays short.
bool StackTable::MakeRoom() {
  Index* old = index_.load(std::memory_order_relaxed);
  if (filled_ * 2 <= old->mask) return true;
  Index* wider = NewIndex((old->mask + 1) * 2);
  if (wider == nullptr) return filled_ < old->mask - old->mask / 8;
  for (uint64_t i = 0; i <= old->mask; i++) {
    const Slot& slot = old->slots()[i];
    const uint32_t child = slot.child.load(std::memory_order_relaxed);
    if (child != 0) Put(wider, slot.parent, slot.key, child);
  }
  filled_ /= 2;  // Put counted each of them once more
  index_.store(wider, std::memory_order_release);
  return true;
}

void StackTable::Put(Index* index, uint32_t parent, uint64_t key, uint32_t child) {
  uint64_t i = Hash(parent, key) & index->mask;
  while (index->slots()[i].child.load(std::memory_order_relaxed) != 0) i = (i + 1) & index->mask;
  Slot& slot = index->slots()[i];
  slot.key = key;
  slot.parent = parent;
  slot.child.store(child, std::memory_order_release);
  filled_++;
}

StackTable::Index* StackTable::NewIndex(uint64_t slots) {
  void* memory = os::Map(nullptr, sizeof(Index) + slots * sizeof(Slot));
  if (memory == nullptr) return nullptr;
  Index* index = static_cast<Index*>(memory);
  index->mask = slots - 1;
  return index;
}

// A vfork child shares our memory and counts here, which the report has to say. Its first new stack is
// where it can be seen for the price of one system call per new node.
void StackTable::NoteVforkChild() {
  const uint64_t pid = os::ProcessId();
  if (MALLOW_LIKELY(pid == file_->header()->pid) || pid == last_vfork_child_) return;
  last_vfork_child_ = pid;
  file_->header()->vfork_children++;
}

}  // namespace mallow::record
