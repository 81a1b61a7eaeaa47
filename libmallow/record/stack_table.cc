#include "record/stack_table.h"

#include <algorithm>

#include "base/bits.h"
#include "base/config.h"
#include "os/memory.h"
#include "os/thread.h"
#include "record/mapped_file.h"
#include "record/process.h"

namespace mallow::record {
namespace {

constexpr uint32_t kLetGoSteps = 1 << 18;  // 1 MiB

// The first stacks of a file, and after a vfork, are each looked at for a vfork child, and then one of so many: not all come by
// libc's vfork.
constexpr uint32_t kStacksAsked = 64, kStacksPerQuestion = 16;

}  // namespace

bool StackTable::Init(MappedFile* file) {
  file_ = file;
  nodes_.Clear();
  further_.Clear();
  for (std::atomic<FrameId>& function : functions_) function.store(0, std::memory_order_relaxed);
  if (!nodes_.MakeRoom(kRoot)) {
    file->header()->incomplete |= kNodesFull;
    return false;
  }
  if (!frames_.Init(file) || !file->Grow(Section::kSteps, 1, kNodesFull) ||
      !file->Grow(Section::kStacks, 1, kStacksFull))
    return false;
  file->SetUsed(Section::kSteps, 1);   // the root: all zero, as a sparse file is
  file->SetUsed(Section::kStacks, 1);  // "not recorded"
  node_count_ = stack_count_ = 1;
  first_node_ = first_stack_ = 0;
  last_vfork_child_ = stacks_asked_ = 0;
  return true;
}

void StackTable::ContinueIn(MappedFile* file) {
  lock_.ResetInChild();
  file_ = file;
  frames_.ContinueIn(file);
  first_node_ = node_count_;
  first_stack_ = stack_count_;
  last_vfork_child_ = stacks_asked_ = 0;
}

void StackTable::InheritedSteps(Step* steps) const {
  for (NodeId node = 0; node < first_node_; ++node) steps[node] = nodes_.At(node).Load();
}

void StackTable::InheritedStacks(uint32_t* nodes) const {
  for (NodeId node = 0; node < first_node_; ++node) {
    const Step step = nodes_.At(node).Load();
    if (step.is_head() || frames_.At(step.frame()).tag() != kTagFunction) continue;
    const uint32_t stack = StackIndex(StackAt(node));
    if (stack < first_stack_) nodes[stack] = node;
  }
}

FrameId StackTable::AddFrame(FrameItem frame) {
  SpinlockHolder holder(lock_);
  return MALLOW_UNLIKELY(g_process.IsLate()) ? 0 : frames_.Add(frame);
}

FrameId StackTable::AddFunction(Function function, uint32_t region) {
  if (const FrameId found = FindFunction(function, region)) return found;
  const FrameId frame = frames_.Add(FrameItem::Of(FunctionFrame(function, region), 0));
  if (region == 0) functions_[static_cast<size_t>(function)].store(frame, std::memory_order_release);
  return frame;
}

NodeId StackTable::FindFurther(NodeId parent, FrameId frame) const {
  return further_.Find(Hash(parent, frame), [&](NodeId node) {
    return nodes_.At(node).Load() == Step::ToFrame(frame) && nodes_.At(node - 1).Load() == Step::Head(parent);
  });
}

NodeId StackTable::Insert(NodeId parent, PathStep* steps, size_t count) {
  SpinlockHolder holder(lock_);
  if (MALLOW_UNLIKELY(g_process.IsLate())) return kRoot;
  const size_t found = FindPath(&parent, steps, count);
  if (found == count) return parent;
  steps += found;
  count -= found;
  const NodeId first = Begin(parent, count);
  if (first == kRoot) return kRoot;
  Step* const recorded = Recorded(first);
  for (size_t i = 0; i < count; ++i) {
    const auto node = static_cast<NodeId>(first + i);
    steps[i].node = node;
    recorded[i] = Step::ToFrame(steps[i].frame);
    if (i != 0) nodes_.At(node).Set(recorded[i]);
  }
  End(first, count);
  return Publish(parent, first, steps[0].frame) ? steps[count - 1].node : kRoot;
}

size_t StackTable::Frames(NodeId below, NodeId last, PathStep* steps, size_t most) const {
  size_t count = 0;
  for (NodeId node = last; node != below; ++count) {
    if (count == most || node == kRoot) return 0;
    steps[count].frame = nodes_.At(node).Load().frame();
    node = nodes_.At(node - 1).Load().ParentOfNext(node);
  }
  std::reverse(steps, steps + count);
  return count;
}

StackId StackTable::AddStack(NodeId caller, Function function, bool from_libc, uint32_t region) {
  SpinlockHolder holder(lock_);
  if (MALLOW_UNLIKELY(g_process.IsLate())) return kNoStack;
  const uint32_t item = stack_count_ - first_stack_;
  if (MALLOW_UNLIKELY(vforks_ != os::Vforks())) stacks_asked_ = 0;
  if (stacks_asked_ < kStacksAsked || item % kStacksPerQuestion == 0) NoteVforkChild();
  if (StackId found = FindStack(caller, function, region)) return found;
  const FrameId frame = AddFunction(function, region);
  if (frame == 0 || !file_->Grow(Section::kStacks, item + 1, kStacksFull)) return kNoStack;
  const NodeId node = Begin(caller, 1, /*of_function=*/true);
  if (node == kRoot) return kNoStack;
  *Recorded(node) = Step::ToFrame(frame);
  End(node, 1);
  const uint32_t id = stack_count_;
  file_->Items<uint32_t>(Section::kStacks)[item] = node;
  file_->SetUsed(Section::kStacks, item + 1);
  __atomic_store_n(&stack_count_, id + 1, __ATOMIC_RELAXED);
  const StackId stack = id | (from_libc ? kLibcStack : 0);
  nodes_.At(node).link.store(stack, std::memory_order_relaxed);
  return Publish(caller, node, frame) ? stack : kNoStack;
}

Step* StackTable::Recorded(NodeId node) const {
  return file_->Items<Step>(Section::kSteps) + (node - first_node_);
}

bool StackTable::IsSpare(NodeId node) const {
  const uint64_t room = Min<uint64_t>(file_->Room(Section::kSteps), kMostNodes - first_node_);
  return node >= first_node_ && node - first_node_ >= room - room / kSparePart;
}

// Whether it is a mark or what lies below one.
bool StackTable::IsShort(NodeId parent, size_t count) const {
  if (parent == kRoot) return count == 1;
  if (count > kFramesOfShortPath) return false;
  return IsSpare(parent) || frames_.At(nodes_.At(parent).Load().frame()).tag() == kTagTruncated;
}

// Room for so many new nodes, the first below `parent` and each other one below the one before: the first of them; kRoot if
// there is none. What comes next is End.
NodeId StackTable::Begin(NodeId parent, size_t count, bool of_function) {
  // No path goes on from another file.
  const bool goes_on = parent + 1 == node_count_ && node_count_ != first_node_;
  const NodeId first = goes_on ? node_count_ : node_count_ + 1;
  const auto last = static_cast<NodeId>(first + count - 1);
  const bool may_take = MALLOW_LIKELY(!IsSpare(last)) || of_function || IsShort(parent, count);
  if (!may_take || !nodes_.MakeRoom(node_count_) || !nodes_.MakeRoom(last)) {
    file_->header()->incomplete |= kNodesFull;
    return kRoot;
  }
  if (!file_->Grow(Section::kSteps, last + 1 - first_node_, kNodesFull)) return kRoot;
  if (!goes_on) {
    *Recorded(node_count_) = Step::Head(parent);
    nodes_.At(node_count_).Set(Step::Head(parent));
  }
  return first;
}

// All nodes from `first` on are recorded. They know each other, but nobody else knows the first.
void StackTable::End(NodeId first, size_t count) {
  const uint32_t from = node_count_ - first_node_;
  node_count_ = static_cast<NodeId>(first + count);
  const uint32_t to = node_count_ - first_node_;
  file_->SetUsed(Section::kSteps, to);
  // What finds a node is in nodes_: the file is for its readers.
  const uint32_t kept_from = to / kLetGoSteps * kLetGoSteps;
  if (MALLOW_UNLIKELY(kept_from > from))
    file_->LetGo(Section::kSteps, from / kLetGoSteps * kLetGoSteps, kept_from);
}

// False: there is no room among further children. Then the node stays in the recording, where nobody refers to it.
bool StackTable::Publish(NodeId parent, NodeId child, FrameId frame) {
  Node& node = nodes_.At(child);
  if (child == parent + 1) {
    node.step.store(frame, std::memory_order_release);
    return true;
  }
  std::atomic<uint32_t>& first = nodes_.At(parent).link;
  unsigned branches = 0;
  for (NodeId other = first.load(std::memory_order_relaxed); other != kRoot; ++branches) {
    other = nodes_.At(other - 1).link.load(std::memory_order_relaxed);
  }
  node.Set(Step::ToFrame(frame));
  if (branches < kMostBranches) {
    nodes_.At(child - 1).link.store(first.load(std::memory_order_relaxed), std::memory_order_relaxed);
    first.store(child, std::memory_order_release);
    return true;
  }
  if (!further_.MakeRoom()) return false;
  further_.Put(Hash(parent, frame), child);
  return true;
}

// A vfork child shares our memory and counts here, which the report has to say. Nothing but a system call tells it from
// its parent, and new stacks are where that is cheap enough.
void StackTable::NoteVforkChild() {
  vforks_ = os::Vforks();
  ++stacks_asked_;
  const uint64_t pid = os::ProcessId();
  if (MALLOW_LIKELY(pid == file_->header()->pid) || pid == last_vfork_child_) return;
  last_vfork_child_ = pid;
  file_->header()->vfork_children++;
}

}  // namespace mallow::record
