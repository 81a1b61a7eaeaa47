#include "record/stack_table.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include "record/mapped_file.h"
#include "record/no_memory.h"
#include "record/test_folder.h"

namespace mallow::record {
namespace {

constexpr uint64_t Frame(uint64_t address) { return kTagReturnAddress << 56 | address; }

// The node of a frame with a module below a parent.
using Model = std::map<std::tuple<NodeId, uint64_t, uint32_t>, NodeId>;

class StackTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file_.Create(folder_.path()));
    ASSERT_TRUE(table_.Init(&file_));
  }
  // As the recording has it.
  FrameItem FrameOf(NodeId id) const {
    const FrameId frame = file_.Items<Step>(Section::kSteps)[id].frame();
    EXPECT_LT(frame, file_.Used(Section::kFrames));
    return file_.Items<FrameItem>(Section::kFrames)[frame];
  }
  NodeId ParentOf(NodeId id) const { return Step::ParentOf(file_.Items<Step>(Section::kSteps), id, 0); }
  void ExpectRecorded(NodeId node, NodeId parent, uint64_t frame, uint32_t module) {
    ASSERT_EQ(frame, FrameOf(node).frame());
    ASSERT_EQ(module, FrameOf(node).module());
    ASSERT_EQ(parent, ParentOf(node));
    ASSERT_LT(parent, node);
  }
  // All of them, also those that the process has let go, and nothing else.
  void ExpectRecorded(const Model& model) {
    const Step* const steps = file_.Items<Step>(Section::kSteps);
    const uint64_t used = file_.Used(Section::kSteps);
    const auto heads = std::count_if(steps, steps + used, [](Step step) { return step.is_head(); });
    EXPECT_EQ(model.size() + 1 + static_cast<size_t>(heads), used);
    for (const auto& [key, node] : model) {
      const auto& [parent, frame, module] = key;
      ExpectRecorded(node, parent, frame, module);
    }
  }

  TestFolder folder_;
  MappedFile file_;
  StackTable table_;
};

TEST_F(StackTableTest, AgreesWithAMap) {
  std::mt19937_64 random(7);
  Model model;
  std::vector<NodeId> nodes = {kRoot};
  for (int i = 0; i < 200'000; i++) {
    const NodeId parent = nodes[random() % nodes.size()];
    const uint64_t frame = Frame(0x400000 + random() % 8) | (random() % 16 == 0 ? kTagSignalFrame << 56 : 0);
    const auto module = static_cast<uint32_t>(random() % 3);
    const NodeId child = table_.Child(parent, frame, module);
    ASSERT_NE(kRoot, child);
    const auto [found, added] = model.try_emplace({parent, frame, module}, child);
    ASSERT_EQ(found->second, child);
    if (!added) continue;
    nodes.push_back(child);
    ExpectRecorded(child, parent, frame, module);
  }
  ExpectRecorded(model);
}

TEST_F(StackTableTest, PathsAgreeWithAMap) {
  std::mt19937_64 random(5);
  Model model;
  std::vector<NodeId> nodes = {kRoot};
  for (int i = 0; i < 30'000; i++) {
    PathStep steps[12];
    const size_t count = 1 + random() % std::size(steps);
    // Most go on where others have ended, so that parts of the way are there already.
    NodeId parent = nodes[random() % (random() % 4 == 0 ? nodes.size() : 1 + nodes.size() / 64)];
    for (size_t k = 0; k < count; k++)
      steps[k] = {table_.Frame(Frame(0x400000 + random() % 4), static_cast<uint32_t>(random() % 2)), kRoot};
    const NodeId last = table_.Path(parent, steps, count);
    ASSERT_EQ(last, steps[count - 1].node);
    for (const PathStep& step : std::span(steps, count)) {
      ASSERT_NE(kRoot, step.node);
      const FrameItem frame = table_.FrameAt(step.frame);
      const auto [found, added] = model.try_emplace({parent, frame.frame(), frame.module()}, step.node);
      ASSERT_EQ(found->second, step.node);
      if (added) nodes.push_back(step.node);
      parent = step.node;
    }
  }
  ExpectRecorded(model);
}

TEST_F(StackTableTest, TellsTheFramesOfAPath) {
  std::vector<PathStep> steps;
  for (uint32_t i = 0; i < 6; i++) steps.push_back({table_.Frame(Frame(0x400000 + i), 1), kRoot});
  const NodeId node = table_.Path(kRoot, steps.data(), steps.size());
  // One that leaves it in its middle.
  std::vector<PathStep> branch(steps.rbegin(), steps.rbegin() + 3);
  const NodeId other = table_.Path(steps[2].node, branch.data(), branch.size());
  ASSERT_NE(kRoot, node);
  ASSERT_NE(kRoot, other);
  PathStep frames[5];
  ASSERT_EQ(5u, table_.Frames(steps[0].node, node, frames, std::size(frames)));
  for (size_t i = 0; i < 5; i++) EXPECT_EQ(steps[i + 1].frame, frames[i].frame);
  ASSERT_EQ(4u, table_.Frames(steps[1].node, other, frames, std::size(frames)));
  EXPECT_EQ(steps[2].frame, frames[0].frame);
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(branch[i].frame, frames[i + 1].frame);
  EXPECT_EQ(0u, table_.Frames(kRoot, node, frames, std::size(frames)));  // six
  EXPECT_EQ(0u, table_.Frames(node, other, frames, std::size(frames)));  // no node of its path
}

// A node behind another is not its child for that.
TEST_F(StackTableTest, NeighboursAreNotTakenForChildren) {
  const NodeId left = table_.Child(kRoot, Frame(0x400100), 1);
  const NodeId right = table_.Child(kRoot, Frame(0x400200), 1);
  ASSERT_EQ(left + 2, right);  // a head between them
  const NodeId below = table_.Child(left, Frame(0x400200), 1);
  EXPECT_NE(right, below);
  EXPECT_EQ(below, table_.Child(left, Frame(0x400200), 1));
  EXPECT_EQ(left, ParentOf(below));
}

TEST_F(StackTableTest, FindsTheChildrenOfANodeThatHasThousands) {
  const NodeId loop = table_.Child(kRoot, Frame(0x400100), 1);
  std::vector<NodeId> children;
  for (uint64_t i = 0; i < 20'000; i++) children.push_back(table_.Child(loop, Frame(0x500000 + i), 1));
  const StackId stack = table_.AddStack(loop, Function::kMalloc, false);
  for (uint64_t i = 0; i < children.size(); i++) {
    ASSERT_EQ(children[i], table_.Child(loop, Frame(0x500000 + i), 1));
    ASSERT_EQ(loop, ParentOf(children[i]));
  }
  EXPECT_EQ(stack, table_.FindStack(loop, Function::kMalloc));
  EXPECT_EQ(kNoStack, table_.FindStack(loop, Function::kCalloc));
}

TEST_F(StackTableTest, GoesOnBeyondTheFirstBlockOfNodes) {
  NodeId node = kRoot;
  for (int i = 0; i < 300'000; i++)
    node = table_.Child(node, Frame(0x400000 + static_cast<uint64_t>(i) % 7), 1);
  const NodeId last = node;
  node = kRoot;
  for (int i = 0; i < 300'000; i++)
    node = table_.Child(node, Frame(0x400000 + static_cast<uint64_t>(i) % 7), 1);
  EXPECT_EQ(last, node);
  EXPECT_EQ(300'001u, table_.node_count());
}

// Paths lie across the ends of blocks, and of what the process lets go.
TEST_F(StackTableTest, PathsGoOnBeyondABlock) {
  constexpr size_t kSteps = 31;
  std::vector<NodeId> last;
  for (int round = 0; round < 2; round++) {
    for (uint64_t i = 0; i < 10'000; i++) {
      PathStep steps[kSteps];
      for (uint64_t k = 0; k < kSteps; k++)
        steps[k] = {table_.Frame(Frame(0x400000 + (i << 8) + k), 1), kRoot};
      const NodeId node = table_.Path(kRoot, steps, kSteps);
      if (round == 0) last.push_back(node);
      ASSERT_EQ(last[i], node);
    }
  }
  // Each but the first with a head.
  EXPECT_EQ(10'000 * (kSteps + 1), table_.node_count());
  for (NodeId node = 1; node < table_.node_count(); node++) {
    const size_t place = node % (kSteps + 1);
    if (place == 0) continue;  // a head
    ASSERT_EQ(place == 1 ? kRoot : node - 1, ParentOf(node));
  }
}

TEST_F(StackTableTest, SaysThatThereIsNoMemoryForMore) {
  NodeId node = kRoot;
  {
    const NoMemory none;
    for (uint64_t i = 0; (i == 0 || node != kRoot) && i < 1 << 20; i++)
      node = table_.Child(node, Frame(0x400000 + i), 1);
  }
  EXPECT_EQ(kRoot, node);
  EXPECT_NE(0u, file_.header()->incomplete & kNodesFull);
}

// A file that is narrow for a limit is full soon.
TEST(StackTable, SparesNodesForShortPathsAndForFunctions) {
  TestFolder folder;
  MappedFile file;
  rlimit wide;
  getrlimit(RLIMIT_FSIZE, &wide);
  const rlimit narrow = {8 << 20, wide.rlim_max};
  setrlimit(RLIMIT_FSIZE, &narrow);
  ASSERT_TRUE(file.Create(folder.path()));
  setrlimit(RLIMIT_FSIZE, &wide);
  StackTable table;
  ASSERT_TRUE(table.Init(&file));
  const auto path = [&table](NodeId parent, uint64_t first, size_t count) {
    std::vector<PathStep> steps;
    for (size_t i = 0; i < count; i++) steps.push_back({table.Frame(Frame(first + i % 64), 1), kRoot});
    return table.Path(parent, steps.data(), count);
  };

  NodeId whole = kRoot, last = kRoot;
  for (uint64_t i = 1; (last = path(last, 0x1000 * (i % 61), 50)) != kRoot; i++) whole = last;
  while ((last = path(whole, 0x800000, 1)) != kRoot) whole = last;
  EXPECT_NE(0u, file.header()->incomplete & kNodesFull);
  EXPECT_EQ(kRoot, path(whole, 0x900000, 1));
  EXPECT_NE(kNoStack, table.AddStack(whole, Function::kMalloc, false));

  const NodeId mark = table.Child(kRoot, kTagTruncated << 56 | 4, 0);
  ASSERT_NE(kRoot, mark);
  EXPECT_EQ(kRoot, path(mark, 0x900000, kFramesOfShortPath + 1));
  const NodeId outer = path(mark, 0x900000, 1);
  ASSERT_NE(kRoot, outer);
  const NodeId caller = path(outer, 0x910000, kFramesOfShortPath - 1);
  EXPECT_NE(kRoot, caller);
  EXPECT_NE(kRoot, path(outer, 0x920000, kFramesOfShortPath - 1));
  const StackId stack = table.AddStack(caller, Function::kCalloc, false);
  ASSERT_NE(kNoStack, stack);
  EXPECT_EQ(stack, table.FindStack(caller, Function::kCalloc));

  for (uint64_t i = 1; (last = path(mark, 0x1000000 + 0x1000 * i, 2)) != kRoot && i < 1 << 20; i++) {
  }
  EXPECT_EQ(kRoot, last);
  EXPECT_LE(file.Used(Section::kSteps), file.Room(Section::kSteps));
}

TEST_F(StackTableTest, StacksAreDenseAndBearTheirOrigin) {
  const NodeId caller = table_.Child(kRoot, Frame(0x400100), 1);
  EXPECT_EQ(kNoStack, table_.FindStack(caller, Function::kMalloc));
  const StackId one = table_.AddStack(caller, Function::kMalloc, false);
  const StackId two = table_.AddStack(caller, Function::kCalloc, true);
  EXPECT_EQ(1u, StackIndex(one));
  EXPECT_EQ(2u, StackIndex(two));
  EXPECT_FALSE(IsLibcStack(one));
  EXPECT_TRUE(IsLibcStack(two));
  EXPECT_EQ(one, table_.FindStack(caller, Function::kMalloc));
  EXPECT_EQ(two, table_.AddStack(caller, Function::kCalloc, true));
  const uint32_t* stacks = file_.Items<uint32_t>(Section::kStacks);
  EXPECT_EQ(kTagFunction << 56 | 2, FrameOf(stacks[2]).frame());
  EXPECT_EQ(two, table_.StackAt(stacks[2]));
  EXPECT_EQ(caller, ParentOf(stacks[2]));
}

TEST_F(StackTableTest, ThreadsAgreeOnIds) {
  constexpr int kThreads = 4, kSteps = 30'000;
  std::vector<std::vector<NodeId>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      std::mt19937 random(11);  // the same in all
      for (int i = 0; i < kSteps; i++) {
        PathStep steps[4];
        for (PathStep& step : steps) step = {table_.Frame(Frame(0x1000 + random() % 12), 1), kRoot};
        seen[t].push_back(table_.Path(kRoot, steps, std::size(steps)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t < kThreads; t++) EXPECT_EQ(seen[0], seen[t]);
}

TEST_F(StackTableTest, AForkChildGoesOnInItsOwnFile) {
  const NodeId before = table_.Child(kRoot, Frame(0x400100), 1);
  const StackId stack = table_.AddStack(before, Function::kMalloc, false);
  TestFolder folder;
  MappedFile own;
  ASSERT_TRUE(own.Create(folder.path()));
  table_.ContinueIn(&own);
  EXPECT_EQ(before, table_.Child(kRoot, Frame(0x400100), 1));
  EXPECT_EQ(stack, table_.FindStack(before, Function::kMalloc));
  // The first of a file has a head, also where its parent is the last before it.
  const uint32_t nodes = table_.node_count();
  const NodeId last = nodes - 1;
  const NodeId after = table_.Child(last, Frame(0x400200), 1);
  EXPECT_EQ(nodes + 1, after);
  EXPECT_EQ(2u, own.Used(Section::kSteps));
  const Step* const steps = own.Items<Step>(Section::kSteps);
  EXPECT_EQ(last, Step::ParentOf(steps, 1, nodes));
  const FrameItem* const frames = own.Items<FrameItem>(Section::kFrames);
  EXPECT_EQ(Frame(0x400200), frames[steps[1].frame()].frame());
  EXPECT_EQ(Frame(0x400100), frames[table_.Frame(Frame(0x400100), 1)].frame());
  EXPECT_EQ(after, table_.Child(last, Frame(0x400200), 1));
}

}  // namespace
}  // namespace mallow::record
