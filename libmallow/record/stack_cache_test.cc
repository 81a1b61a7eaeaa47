#include "record/stack_cache.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "os/thread.h"

// Functions that are never called: their unwind rows are what the made-up stacks below are walked by. Each has one
// return address, behind a call in its middle.
#define MALLOW_ROW(name, rows)                                                                          \
  asm(".text\n.type " name ",@function\n" name ":\n.cfi_startproc\n" rows "call " name "\n.globl " name \
      "Return\n" name "Return:\nnop\n.cfi_endproc\n.size " name ", . - " name "\n")

MALLOW_ROW("Sp16", ".cfi_def_cfa %rsp, 16\n");
MALLOW_ROW("Sp24", ".cfi_def_cfa %rsp, 24\n");
MALLOW_ROW("Sp16Twin", ".cfi_def_cfa %rsp, 16\n");
MALLOW_ROW("Sp32SavesBp", ".cfi_def_cfa %rsp, 32\n.cfi_offset %rbp, -16\n");
MALLOW_ROW("Sp24SavesBp", ".cfi_def_cfa %rsp, 24\n.cfi_offset %rbp, -24\n");
MALLOW_ROW("Bp16", ".cfi_def_cfa %rbp, 16\n.cfi_offset %rbp, -16\n");
MALLOW_ROW("Bp16Twin", ".cfi_def_cfa %rbp, 16\n.cfi_offset %rbp, -16\n");
MALLOW_ROW("Bp24KeepsBp", ".cfi_def_cfa %rbp, 24\n");
// CFA in the word at rbp - 8, rbp in the word at rbp: a realigned frame.
MALLOW_ROW("Realigned",
           ".cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06\n.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00\n");
// CFA = the word at rsp + 8, interpreted.
MALLOW_ROW("Interpreted", ".cfi_escape 0x0f, 0x03, 0x77, 0x08, 0x06\n");
// CFA from rbx.
MALLOW_ROW("Bx16", ".cfi_def_cfa %rbx, 16\n.cfi_offset %rbx, -16\n");
MALLOW_ROW("Outermost", ".cfi_undefined %rip\n");

extern "C" {
extern char Sp16Return[], Sp24Return[], Sp16TwinReturn[], Sp32SavesBpReturn[], Sp24SavesBpReturn[],
    Bp16Return[], Bp16TwinReturn[], Bp24KeepsBpReturn[], RealignedReturn[], InterpretedReturn[], Bx16Return[],
    OutermostReturn[];
}

namespace mallow::record {
namespace {

uintptr_t AddressOf(const char* label) { return reinterpret_cast<uintptr_t>(label); }

// Gives every path its own node.
class PathTable {
 public:
  PathTable() : table_{this, FrameOf, Steps, Frames, Module} {}
  const NodeTable& table() const { return table_; }
  size_t size() const { return nodes_.size(); }
  void LimitTo(size_t nodes) { limit_ = nodes; }

  // Frames of a path, innermost first.
  std::vector<uint64_t> Path(NodeId node) const {
    std::vector<uint64_t> frames;
    for (; node != kRoot; node = parents_.at(node).first) frames.push_back(parents_.at(node).second);
    return frames;
  }

  NodeId Parent(NodeId node) const { return parents_.at(node).first; }

  // Called within Steps, as a signal handler would be.
  void (*interruption)() = nullptr;
  bool no_room_for_frames = false;
  size_t longest = SIZE_MAX;  // there is no room for longer paths
  // What objects are called that a rule is made from now.
  uint32_t module = 1;

 private:
  static NodeId Steps(void* self, NodeId parent, PathStep* steps, size_t count) {
    auto* table = static_cast<PathTable*>(self);
    if (table->interruption != nullptr) table->interruption();
    if (count > table->longest) return kRoot;
    for (size_t i = 0; i < count && (i == 0 || parent != kRoot); ++i)
      parent = steps[i].node = table->Child(parent, steps[i].frame);
    return parent;
  }
  static size_t Frames(void* self, NodeId below, NodeId last, PathStep* steps, size_t most) {
    const auto* table = static_cast<PathTable*>(self);
    size_t count = 0;
    for (NodeId node = last; node != below; node = table->Parent(node)) {
      if (count == most) return 0;
      steps[count++].frame = table->frames_of_nodes_.at(node);
    }
    std::reverse(steps, steps + count);
    return count;
  }
  static FrameId FrameOf(void* self, uint64_t frame, uint32_t module) {
    auto* table = static_cast<PathTable*>(self);
    if (table->no_room_for_frames) return 0;
    const auto id = static_cast<FrameId>(table->ids_.size() + 1);
    const auto [found, added] = table->ids_.try_emplace({frame, module}, id);
    if (added) table->frames_[id] = frame;
    return found->second;
  }
  NodeId Child(NodeId parent, FrameId frame) {
    const auto key = std::make_pair(parent, frame);
    if (const auto found = nodes_.find(key); found != nodes_.end()) return found->second;
    if (nodes_.size() >= limit_) return kRoot;
    const auto id = static_cast<NodeId>(nodes_.size() + 1);
    nodes_.emplace(key, id);
    parents_[id] = {parent, frames_.at(frame)};
    frames_of_nodes_[id] = frame;
    return id;
  }
  static uint32_t Module(void* self, const void*) { return static_cast<PathTable*>(self)->module; }

  std::map<std::pair<uint64_t, uint32_t>, FrameId> ids_;
  std::map<FrameId, uint64_t> frames_;
  std::map<std::pair<NodeId, FrameId>, NodeId> nodes_;
  std::map<NodeId, std::pair<NodeId, uint64_t>> parents_;
  std::map<NodeId, FrameId> frames_of_nodes_;
  size_t limit_ = SIZE_MAX;
  NodeTable table_;
};

// A made-up stack on pages of its own, with an unreadable page on either side.
class MadeStack {
 public:
  static constexpr size_t kPage = 4096;
  explicit MadeStack(size_t pages = 1) : bytes_((pages + 2) * kPage) {
    base_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + kPage, bytes_ - 2 * kPage, PROT_READ | PROT_WRITE);
  }
  ~MadeStack() { munmap(base_, bytes_); }
  uintptr_t low() const { return reinterpret_cast<uintptr_t>(base_) + kPage; }
  uintptr_t high() const { return reinterpret_cast<uintptr_t>(base_) + bytes_ - kPage; }
  uintptr_t* words() const { return reinterpret_cast<uintptr_t*>(base_ + kPage); }
  uintptr_t& At(uintptr_t address) const { return *reinterpret_cast<uintptr_t*>(address); }

 private:
  char* base_;
  size_t bytes_;
};

constexpr uint64_t Mark(Truncation why) { return kTagTruncated << 56 | static_cast<uint64_t>(why); }

class StackCacheTest : public ::testing::Test {
 protected:
  // Of the made-up stacks it is the thread's own.
  void SetUp() override { os::SetStackEnd(stack_.high() - sizeof(uintptr_t)); }
  NodeId Capture(uintptr_t pc, uintptr_t sp, uintptr_t bp, uintptr_t bx = 0) {
    return cache_->Capture({pc, sp, bp, bx, 0, 0, 0, 0}, paths_.table(), &statistics_);
  }
  std::vector<uint64_t> PathOf(uintptr_t pc, uintptr_t sp, uintptr_t bp, uintptr_t bx = 0) {
    return paths_.Path(Capture(pc, sp, bp, bx));
  }
  void TearDown() override { cache_->Unmap(); }

  std::unique_ptr<StackCache> cache_ = std::make_unique<StackCache>();
  PathTable paths_;
  CaptureStatistics statistics_{};
  MadeStack stack_;
};

using Frames = std::vector<uint64_t>;

TEST_F(StackCacheTest, WalksFramesBySpAndByBp) {
  const uintptr_t sp = stack_.low() + 64;
  stack_.At(sp + 8) = AddressOf(Bp16Return);
  const uintptr_t bp = sp + 128;
  stack_.At(bp) = 0;
  stack_.At(bp + 8) = AddressOf(OutermostReturn);
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, bp),
            (Frames{AddressOf(Sp16Return), AddressOf(Bp16Return), AddressOf(OutermostReturn)}));
  EXPECT_EQ(statistics_.frames_walked, 3u);
  EXPECT_EQ(statistics_.truncated, 0u);
}

TEST_F(StackCacheTest, ReusesAnUnchangedStack) {
  const uintptr_t sp = stack_.low() + 64;
  stack_.At(sp + 8) = AddressOf(Sp24Return);
  stack_.At(sp + 32) = AddressOf(OutermostReturn);
  const NodeId first = Capture(AddressOf(Sp16Return), sp, 0);
  // Once more by a frame, for its leaf entry.
  for (int again = 0; again < 3; ++again) EXPECT_EQ(Capture(AddressOf(Sp16Return), sp, 0), first);
  EXPECT_EQ(statistics_.reused, 2u);
  EXPECT_EQ(statistics_.frames_walked, 3u + 1u);
  EXPECT_EQ(statistics_.frames_verified, 2u);
}

TEST_F(StackCacheTest, DeadBpDoesNotMatterLiveBpDoes) {
  const uintptr_t sp = stack_.low() + 64;
  stack_.At(sp + 8) = AddressOf(Sp24Return);
  stack_.At(sp + 32) = AddressOf(OutermostReturn);
  for (uintptr_t bp = 1; bp <= 3; ++bp) Capture(AddressOf(Sp16Return), sp, bp);
  EXPECT_EQ(statistics_.reused, 1u);

  stack_.At(sp + 8) = AddressOf(Bp16Return);
  for (const uintptr_t bp : {sp + 128, sp + 256}) stack_.At(bp + 8) = AddressOf(OutermostReturn);
  stack_.At(sp + 256 + 8) = AddressOf(Sp16TwinReturn);
  stack_.At(sp + 256 + 24) = AddressOf(OutermostReturn);
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, sp + 128).size(), 3u);
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, sp + 256).size(), 4u);
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, sp + 128).size(), 3u);
}

TEST_F(StackCacheTest, ALeafEntryLeadsBackToTheLastStack) {
  const uintptr_t outer = stack_.low() + 512;
  stack_.At(outer + 8) = AddressOf(OutermostReturn);
  const auto leaf = [&](uintptr_t sp, const char* pc) {
    stack_.At(outer - 8) = AddressOf(Sp16Return);
    return Capture(AddressOf(pc), sp, 0);
  };
  std::vector<NodeId> first, again;
  for (int round = 0; round < 3; ++round) {
    again = {leaf(outer - 16, Sp16TwinReturn), leaf(outer - 24, Sp24Return)};
    if (round == 0) first = again;
    EXPECT_EQ(again, first);
  }
  EXPECT_EQ(statistics_.frames_walked, 2u + 1u + 1u + 1u);
}

// The last stack is another one by now, whose words are unchanged where those of the entry's own were.
TEST_F(StackCacheTest, ALeafEntryAsksWhatTheLastStackIs) {
  const uintptr_t sp = stack_.low() + 512;
  const auto set_callers = [&](const char* inner, const char* outer) {
    stack_.At(sp - 8) = AddressOf(inner);
    stack_.At(sp + 8) = AddressOf(outer);
  };
  stack_.At(sp + 24) = AddressOf(OutermostReturn);
  set_callers(Sp16Return, Sp16Return);
  Capture(AddressOf(Sp24Return), sp - 24, 0);
  Capture(AddressOf(Sp16Return), sp - 16, 0);
  set_callers(Sp16TwinReturn, Sp16TwinReturn);
  Capture(AddressOf(Sp24Return), sp - 24, 0);
  set_callers(Sp16Return, Sp16TwinReturn);
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp - 16, 0),
            (Frames{AddressOf(Sp16Return), AddressOf(Sp16Return), AddressOf(Sp16TwinReturn),
                    AddressOf(OutermostReturn)}));
}

// As in a program that walks a tree: each stack is new, and the way from a call to its caller one of two.
TEST_F(StackCacheTest, AnEntryServesWhereAnotherWayLeadsToItsFrame) {
  constexpr int kDepth = 10;
  const uintptr_t outer = stack_.high() - 64;
  stack_.At(outer + 8) = AddressOf(OutermostReturn);
  Frames callers = {AddressOf(OutermostReturn)};
  uint64_t captures = 0;
  const auto visit = [&](const auto& itself, int depth) -> void {
    const uintptr_t sp = outer - 16 * static_cast<uintptr_t>(depth);
    Frames frames = callers;
    frames.push_back(AddressOf(Sp16Return));
    std::reverse(frames.begin(), frames.end());
    ASSERT_EQ(PathOf(AddressOf(Sp16Return), sp, 0), frames);
    ++captures;
    for (const char* site : {Sp16Return, Sp16TwinReturn}) {
      if (depth == kDepth) break;
      stack_.At(sp - 8) = AddressOf(site);
      callers.push_back(AddressOf(site));
      itself(itself, depth + 1);
      callers.pop_back();
    }
  };
  visit(visit, 0);
  EXPECT_EQ(captures, (2u << kDepth) - 1);
  EXPECT_LT(statistics_.frames_walked, captures);
}

// The way that followed the last time is tried before the search begins, and is right or not.
TEST_F(StackCacheTest, WaysFromOneStartAreKnownInWhateverOrder) {
  const uintptr_t sp = stack_.low() + 512;
  stack_.At(sp + 40) = AddressOf(Sp16Return);
  stack_.At(sp + 56) = AddressOf(OutermostReturn);
  const auto capture = [&](unsigned way) {
    stack_.At(sp + 8) = AddressOf(way % 2 == 0 ? Sp16Return : Sp16TwinReturn);
    stack_.At(sp + 24) = AddressOf(way / 2 == 0 ? Sp16Return : Sp16TwinReturn);
    return Capture(AddressOf(Sp16TwinReturn), sp, 0);
  };
  constexpr unsigned kWays = 4;
  NodeId first[kWays];
  for (unsigned way = 0; way < kWays; ++way) first[way] = capture(way);
  EXPECT_EQ((std::set<NodeId>(first, first + kWays).size()), size_t{kWays});
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned way = 0; way < kWays; ++way) EXPECT_EQ(capture(way), first[way]);
  }
  const uint64_t walked = statistics_.frames_walked;
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const unsigned way = random() % kWays;
    ASSERT_EQ(capture(way), first[way]);
  }
  EXPECT_EQ(statistics_.frames_walked, walked);
}

// It leads to a frame that is gone, and lies where no search comes by, so that no walk replaces it.
TEST_F(StackCacheTest, AGuessThatLeadsNowhereIsTriedOnce) {
  const uintptr_t sp = stack_.low() + 512, other_sp = sp + 64, bp = sp + 256, outer_bp = bp + 32;
  stack_.At(other_sp + 8) = AddressOf(Bp16Return);
  stack_.At(bp + 8) = stack_.At(bp + 24) = stack_.At(outer_bp + 8) = AddressOf(Sp16Return);
  stack_.At(outer_bp + 24) = AddressOf(OutermostReturn);
  const auto capture = [&](const char* caller, uintptr_t at_bp) {
    stack_.At(sp + 8) = AddressOf(caller);
    return Capture(AddressOf(Sp16Return), sp, at_bp);
  };
  const auto before = [&] { Capture(AddressOf(Sp16TwinReturn), other_sp, outer_bp); };
  const auto guessed = [&] { return capture(Bp16TwinReturn, bp); };
  // The other way from the start of the guessed one is where a search for that begins.
  capture(Bp16Return, bp), before(), capture(Bp16Return, bp), guessed();
  const uint64_t walked = statistics_.frames_walked;
  before(), guessed();
  EXPECT_EQ(statistics_.frames_walked, walked);
  // Its place is taken, and the frame where the guessed way leads has another caller.
  stack_.At(bp + 24) = AddressOf(Sp16TwinReturn);
  capture(Bp16Return, outer_bp);
  before();
  const NodeId node = guessed();
  EXPECT_GT(statistics_.frames_walked, walked);
  // What no leaf entry knew.
  const uint64_t verified = statistics_.frames_verified;
  for (int round = 0; round < 3; ++round) {
    before();
    EXPECT_EQ(guessed(), node);
  }
  EXPECT_EQ(statistics_.frames_verified, verified);
}

TEST_F(StackCacheTest, TwoLeafEntriesOfOneSlotBothStay) {
  const MadeStack stack(16);
  os::SetStackEnd(stack.high() - sizeof(uintptr_t));
  const uintptr_t bp = stack.high() - 64;
  stack.At(bp + 8) = AddressOf(OutermostReturn);
  struct Start {
    uintptr_t pc, sp;
  };
  const auto capture = [&](const Start& start) {
    stack.At(start.sp + 8) = AddressOf(Bp16Return);
    return Capture(start.pc, start.sp, bp);
  };
  capture({AddressOf(Sp16Return), bp - 64});
  std::vector<Start> starts;
  Start one{}, other{};
  LeafCache cache;
  ASSERT_TRUE(cache.MakeReady());
  // Not the first capture's start: that one was walked when there was no stack to lead to, and has no entry yet.
  for (uintptr_t sp = bp - 80; sp > stack.low() && one.pc == 0; sp -= 16) {
    for (const uintptr_t pc : {AddressOf(Sp16Return), AddressOf(Sp16TwinReturn)}) {
      for (const Start& start : starts) {
        if (cache.ShareSlot(LeafCache::First(pc, sp), LeafCache::First(start.pc, start.sp)))
          one = start, other = {pc, sp};
      }
      starts.push_back({pc, sp});
    }
  }
  cache.Clear();
  ASSERT_NE(one.pc, 0u);
  capture(one), capture(other);
  const uint64_t walked = statistics_.frames_walked;
  for (int again = 0; again < 3; ++again) capture(one), capture(other);
  EXPECT_EQ(statistics_.frames_walked, walked);
}

// A handler on a stack of its own leads to the one that it interrupted; once it has returned, leaf entries are used again.
TEST_F(StackCacheTest, LeafEntriesServeAgainAfterAHandlersStack) {
  const MadeStack handlers;
  const uintptr_t outer = stack_.low() + 512;
  stack_.At(outer + 8) = AddressOf(OutermostReturn);
  const auto capture = [&](const char* pc, uintptr_t sp) {
    stack_.At(outer - 8) = AddressOf(Sp16Return);
    Capture(AddressOf(pc), sp, 0);
  };
  const auto both = [&] {
    capture(Sp16TwinReturn, outer - 16);
    capture(Sp24Return, outer - 24);
  };
  Capture(AddressOf(Sp16Return), outer, 0);
  both();
  stack_.At(outer - 24) = AddressOf(Sp16TwinReturn);
  Capture(AddressOf(Bp16Return), handlers.low() + 64, outer - 32);
  for (int again = 0; again < 2; ++again) both();
  const uint64_t walked = statistics_.frames_walked;
  for (int again = 0; again < 2; ++again) both();
  EXPECT_EQ(statistics_.frames_walked, walked);
}

// Of another stack than the thread's own, the words of the page where a capture begins can be read.
TEST_F(StackCacheTest, LeafEntriesServeAStackThatLiesInOnePage) {
  const MadeStack coroutine;
  const uintptr_t outer = coroutine.low() + 512;
  stack_.At(stack_.low() + 128) = coroutine.At(outer + 8) = AddressOf(OutermostReturn);
  const auto both = [&] {
    coroutine.At(outer - 8) = AddressOf(Sp16Return);
    Capture(AddressOf(Sp16TwinReturn), outer - 16, 0);
    Capture(AddressOf(Sp24Return), outer - 24, 0);
  };
  for (int again = 0; again < 2; ++again) both();
  const uint64_t walked = statistics_.frames_walked;
  for (int again = 0; again < 2; ++again) both();
  EXPECT_EQ(statistics_.frames_walked, walked);
  // The thread's own stack takes the place of the last one, and gives it back.
  Capture(AddressOf(Sp16Return), stack_.low() + 120, 0);
  for (int again = 0; again < 2; ++again) both();
  const uint64_t walked_again = statistics_.frames_walked;
  EXPECT_GT(walked_again, walked);
  both();
  EXPECT_EQ(statistics_.frames_walked, walked_again);
}

// A word of the page beyond is asked about in every capture.
TEST_F(StackCacheTest, NoLeafEntryReadsBeyondThePageOfAnotherStack) {
  const MadeStack coroutine(2);
  const uintptr_t outer = coroutine.low() + MadeStack::kPage - 8;
  const auto both = [&] {
    coroutine.At(outer - 8) = AddressOf(Sp16Return);
    Capture(AddressOf(Sp16TwinReturn), outer - 16, 0);
    Capture(AddressOf(Sp24Return), outer - 24, 0);
  };
  coroutine.At(outer + 8) = AddressOf(OutermostReturn);
  for (int again = 0; again < 3; ++again) both();
  EXPECT_EQ(statistics_.truncated, 0u);
  mprotect(reinterpret_cast<void*>(outer + 8), MadeStack::kPage, PROT_NONE);
  both();
  EXPECT_EQ(statistics_.truncated, 2u);
}

// What was known of an object's frames is not, once objects may have been unloaded and others have come to their place,
// not even below frames of an object that stayed.
TEST_F(StackCacheTest, NothingOutlivesAnUnloadedObject) {
  const uintptr_t outer = stack_.low() + 512;
  stack_.At(outer + 8) = AddressOf(OutermostReturn);
  stack_.At(outer - 8) = AddressOf(Sp16Return);
  const auto stayed = [&] { return Capture(AddressOf(Sp16Return), outer, 0); };
  const auto come = [&] { return Capture(AddressOf(Sp16TwinReturn), outer - 16, 0); };
  const auto other = [&] { return Capture(AddressOf(Sp24Return), outer - 24, 0); };
  std::set<NodeId> seen;
  NodeId outer_node = kRoot;
  for (uint32_t round = 0; round < 4; ++round) {
    paths_.module = 1;
    if (round == 0) outer_node = stayed();
    EXPECT_EQ(stayed(), outer_node) << "round " << round;
    paths_.module = 2 + round;
    const NodeId node = come(), other_node = other();
    EXPECT_TRUE(seen.insert(node).second) << "of an object that is gone, round " << round;
    EXPECT_TRUE(seen.insert(other_node).second) << "of an object that is gone, round " << round;
    EXPECT_EQ(come(), node);
    EXPECT_EQ(other(), other_node);
    InvalidateModules();
  }
  // The same without a look at the outer frames in between, nor are they those of an object that is gone.
  for (uint32_t round = 0; round < 4; ++round) {
    paths_.module = 10 + round;
    const NodeId node = come();
    EXPECT_TRUE(seen.insert(node).second) << "of an object that is gone, round " << round;
    EXPECT_EQ(paths_.Parent(node), stayed()) << "round " << round;
    InvalidateModules();
  }
}

// rbp is the start's as one leads there, and restored by a word as the others do: of the second frame, which is outside of
// one that leaves it alone, and of two the one that does it last.
TEST_F(StackCacheTest, ALeafEntryJoinsWhereBpIsLive) {
  const uintptr_t sp = stack_.low() + 512, bp = sp + 128;
  stack_.At(bp + 8) = AddressOf(OutermostReturn);
  const auto capture = [&](int way) {
    stack_.At(sp - 8) = AddressOf(Bp16Return);
    if (way == 0) return Capture(AddressOf(Sp16Return), sp - 16, bp);
    stack_.At(sp - 16) = bp;
    if (way == 1) return Capture(AddressOf(Sp32SavesBpReturn), sp - 32, 1);
    stack_.At(sp - 40) = AddressOf(Sp32SavesBpReturn);
    stack_.At(sp - 48) = 2;
    return way == 2 ? Capture(AddressOf(Sp24Return), sp - 56, 3)
                    : Capture(AddressOf(Sp32SavesBpReturn), sp - 64, 4);
  };
  constexpr int kWays = 4;
  NodeId first[kWays];
  for (int round = 0; round < 3; ++round) {
    const uint64_t reused = statistics_.reused;
    for (int way = 0; way < kWays; ++way) {
      const NodeId node = capture(way);
      if (round == 0) first[way] = node;
      EXPECT_EQ(node, first[way]);
    }
    EXPECT_TRUE(round < 2 || statistics_.reused == reused + kWays) << statistics_.reused - reused;
  }
  EXPECT_EQ((std::set<NodeId>(first, first + kWays).size()), size_t{kWays});
}

// The joining frame is the same in node and sp, but its rbp is that of the entry's time, not of the last stack's.
TEST_F(StackCacheTest, ALeafEntryComparesBpWhereItJoinsWhereBpIsLive) {
  const uintptr_t sp = stack_.low() + 64, bp = sp + 128, other_bp = sp + 256;
  stack_.At(sp - 8) = AddressOf(Bp16Return);
  stack_.At(bp + 8) = stack_.At(other_bp + 8) = AddressOf(OutermostReturn);
  Capture(AddressOf(Sp24Return), sp - 24, bp);
  Capture(AddressOf(Sp16Return), sp - 16, bp);
  Capture(AddressOf(Sp24Return), sp - 24, other_bp);
  stack_.At(bp + 8) = AddressOf(Sp16TwinReturn);
  stack_.At(bp + 16 + 8) = AddressOf(OutermostReturn);
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp - 16, bp),
            (Frames{AddressOf(Sp16Return), AddressOf(Bp16Return), AddressOf(Sp16TwinReturn),
                    AddressOf(OutermostReturn)}));
}

TEST_F(StackCacheTest, AReturnAddressOfZeroEndsTheStack) {
  const uintptr_t sp = stack_.low() + 64;
  stack_.At(sp + 8) = 0;
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, 0), (Frames{AddressOf(Sp16Return)}));
  EXPECT_EQ(statistics_.truncated, 0u);
  stack_.At(sp + 8) = AddressOf(OutermostReturn);
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, 0).size(), 2u);
}

TEST_F(StackCacheTest, MarksWhatTheTablesDoNotCover) {
  const uintptr_t sp = stack_.low() + 64;
  stack_.At(sp + 8) = stack_.low();  // no object lies there
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, 0),
              (Frames{AddressOf(Sp16Return), stack_.low(), Mark(Truncation::kNoUnwindInfo)}));
  }
  EXPECT_EQ(statistics_.truncated, 3u);
}

TEST_F(StackCacheTest, MarksADamagedStack) {
  const uintptr_t sp = stack_.low() + 64;
  const Frames damaged{AddressOf(Bp16Return), Mark(Truncation::kDamagedStack)};
  for (const uintptr_t bp :
       {uintptr_t{0}, uintptr_t{8}, sp + 4, sp - 32, stack_.high(), stack_.high() - 16, ~uintptr_t{0} - 15}) {
    if (bp == stack_.high() - 16) stack_.At(bp + 8) = 17;
    EXPECT_EQ(PathOf(AddressOf(Bp16Return), sp, bp), damaged) << std::hex << bp;
  }
}

TEST_F(StackCacheTest, AChainThatRunsInACircleEnds) {
  // Two stacks that lead to each other.
  MadeStack other;
  const uintptr_t here = stack_.low() + 64, there = other.low() + 64;
  stack_.At(here + 8) = AddressOf(RealignedReturn);
  stack_.At(here + 64 - 8) = there;  // CFA of the realigned frame at bp = here + 64
  other.At(there - 8) = AddressOf(RealignedReturn);
  stack_.At(here + 64) = there + 64;  // its saved rbp
  other.At(there + 64 - 8) = here + 16;
  other.At(there + 64) = here + 64;
  stack_.At(here + 8) = AddressOf(RealignedReturn);
  const Frames path = PathOf(AddressOf(Sp16Return), here, here + 64);
  EXPECT_EQ(path.back(), Mark(Truncation::kDamagedStack));
  EXPECT_LT(path.size(), 20u);
}

TEST_F(StackCacheTest, InterpretsAllRegistersWhereARowNeedsThem) {
  const uintptr_t sp = stack_.low() + 64, bx = sp + 96;
  stack_.At(sp + 8) = AddressOf(Bx16Return);
  stack_.At(bx + 8) = AddressOf(OutermostReturn);
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, 0, bx),
            (Frames{AddressOf(Sp16Return), AddressOf(Bx16Return), AddressOf(OutermostReturn)}));
  EXPECT_EQ(statistics_.frames_interpreted, 3u);
}

TEST_F(StackCacheTest, AFullTableGivesAMarkedPath) {
  const uintptr_t sp = stack_.low() + 64;
  stack_.At(sp + 8) = 0;
  stack_.At(sp - 16 + 8) = AddressOf(Sp16Return);
  Capture(AddressOf(Sp16Return), sp, 0);
  paths_.LimitTo(paths_.size());
  EXPECT_EQ(Capture(AddressOf(Sp16TwinReturn), sp - 16, 0), kRoot);
  paths_.LimitTo(paths_.size() + 1);
  // The mark takes the only room that is left.
  cache_->Forget();
  Capture(AddressOf(Sp24Return), sp - 16, 0);
  paths_.LimitTo(SIZE_MAX);
  EXPECT_EQ(PathOf(AddressOf(Sp16TwinReturn), sp - 16, 0),
            (Frames{AddressOf(Sp16TwinReturn), AddressOf(Sp16Return)}));
}

TEST_F(StackCacheTest, AFullTableKeepsTheInnermostFrames) {
  constexpr uintptr_t kDepth = 3 * kFramesOfShortPath;
  const uintptr_t sp = stack_.low() + 64;
  for (uintptr_t i = 0; i < kDepth; i++) stack_.At(sp + 16 * i + 8) = AddressOf(Sp16Return);
  stack_.At(sp + 16 * kDepth + 8) = 0;
  paths_.longest = kFramesOfShortPath;
  const Frames frames = PathOf(AddressOf(Sp16TwinReturn), sp, 0);
  ASSERT_EQ(frames.size(), kFramesOfShortPath + 1);
  EXPECT_EQ(frames.back() >> 56, kTagTruncated);
  EXPECT_EQ(frames.front(), AddressOf(Sp16TwinReturn));
  for (size_t i = 1; i < kFramesOfShortPath; i++) EXPECT_EQ(frames[i], AddressOf(Sp16Return));
}

TEST_F(StackCacheTest, AFrameForWhichThereWasNoRoomIsAskedForAgain) {
  const uintptr_t sp = stack_.low() + 64;
  stack_.At(sp + 8) = 0;
  paths_.no_room_for_frames = true;
  EXPECT_EQ(Capture(AddressOf(Sp16Return), sp, 0), kRoot);
  paths_.no_room_for_frames = false;
  EXPECT_EQ(PathOf(AddressOf(Sp16Return), sp, 0), (Frames{AddressOf(Sp16Return)}));
}

StackCache* g_cache;
PathTable* g_paths;
CaptureStatistics* g_statistics;
uintptr_t g_sp;
int g_depth;
std::vector<NodeId> g_inner;

TEST_F(StackCacheTest, ASecondCaptureMayInterruptAThirdIsMarkedBusy) {
  g_cache = cache_.get();
  g_paths = &paths_;
  g_statistics = &statistics_;
  g_sp = stack_.low() + 64;
  stack_.At(g_sp + 8) = AddressOf(OutermostReturn);
  paths_.interruption = [] {
    if (g_depth == 2) return;
    ++g_depth;
    const NodeId node =
        g_cache->Capture({AddressOf(Sp16Return), g_sp, 0, 0, 0, 0, 0, 0}, g_paths->table(), g_statistics);
    g_inner.push_back(node);
    --g_depth;
  };
  const NodeId outer = Capture(AddressOf(Sp16Return), g_sp, 0);
  paths_.interruption = nullptr;
  const Frames whole{AddressOf(Sp16Return), AddressOf(OutermostReturn)};
  EXPECT_EQ(paths_.Path(outer), whole);
  size_t busy = 0;
  for (const NodeId node : g_inner) {
    const Frames path = paths_.Path(node);
    if (path == Frames{Mark(Truncation::kBusy)}) {
      ++busy;
    } else {
      EXPECT_EQ(path, whole);
    }
  }
  EXPECT_GT(busy, 0u);
  EXPECT_LT(busy, g_inner.size());
}

// Stacks made at random from few values on few words, so that nearly everything aliases nearly everything: a cache that
// remembers must always agree with one that has just forgotten.
TEST_F(StackCacheTest, RemembersNothingWrongOfRandomStacks) {
  std::mt19937_64 random(4711);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  const uintptr_t pcs[] = {
      AddressOf(Sp16Return),        AddressOf(Sp24Return),        AddressOf(Sp16TwinReturn),
      AddressOf(Sp32SavesBpReturn), AddressOf(Sp24SavesBpReturn), AddressOf(Bp16Return),
      AddressOf(Bp16TwinReturn),    AddressOf(Bp24KeepsBpReturn), AddressOf(RealignedReturn),
      AddressOf(Bp16Return),        AddressOf(InterpretedReturn), AddressOf(OutermostReturn)};
  constexpr size_t kWords = 48;
  uintptr_t* words = stack_.words() + 16;
  const auto address = [&] { return reinterpret_cast<uintptr_t>(words + below(kWords)); };
  const auto value = [&]() -> uintptr_t {
    const uint64_t kind = below(100);
    if (kind < 60) return pcs[below(sizeof pcs / sizeof pcs[0])];
    return kind < 98 ? address() : 0;
  };
  StackCache forgetful;
  CaptureStatistics ignored{};
  int mismatches = 0;
  for (int stack = 0; stack < 12000; ++stack) {
    for (size_t i = 0; i < kWords; ++i) words[i] = value();
    Registers starts[3];
    for (Registers& start : starts) {
      start = {
          pcs[below(8)], reinterpret_cast<uintptr_t>(words + below(kWords / 3)), address(), 0, 0, 0, 0, 0};
    }
    for (int step = 0; step < 60; ++step) {
      for (uint64_t changes = below(3); changes != 0; --changes) words[below(kWords)] = value();
      Registers& start = starts[below(3)];
      if (below(4) == 0) start.bp = address();
      const NodeId node = cache_->Capture(start, paths_.table(), &statistics_);
      forgetful.Forget();
      const NodeId expected = forgetful.Capture(start, paths_.table(), &ignored);
      mismatches += node != expected;
    }
  }
  EXPECT_EQ(mismatches, 0);
  // Not vacuous: much was reused, and much was not.
  EXPECT_GT(statistics_.reused, 10000u);
  EXPECT_GT(statistics_.frames_walked, 10000u);
  forgetful.Unmap();
}

// The same of up to 40 frames one behind the other that all keep rbp, of which few words change, and many change back.
TEST_F(StackCacheTest, RemembersNothingWrongOfFramedRandomStacks) {
  std::mt19937_64 random(4711);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  const uintptr_t returns[] = {AddressOf(Bp16Return), AddressOf(Bp16TwinReturn)};
  StackCache forgetful;
  CaptureStatistics ignored{};
  int mismatches = 0;
  for (int stack = 0; stack < 500; ++stack) {
    std::vector<uintptr_t> frames(3 + below(40));  // where rbp is saved, innermost first
    uintptr_t next = stack_.low() + 256;
    for (uintptr_t& frame : frames) frame = std::exchange(next, next + 16 + 8 * below(3));
    for (size_t i = 0; i < frames.size(); ++i) {
      const bool last = i + 1 == frames.size();
      stack_.At(frames[i]) = last ? 0 : frames[i + 1];
      stack_.At(frames[i] + 8) = last ? AddressOf(OutermostReturn) : returns[below(2)];
    }
    for (int step = 0; step < 60; ++step) {
      // A word of a frame but the outermost, and what is there instead for a while.
      const size_t changed = below(frames.size() - 1);
      const bool saved_bp = below(2) == 0;
      uintptr_t& word = stack_.At(frames[changed] + (saved_bp ? 0 : 8));
      const uintptr_t before = word;
      if (below(2) == 0) word = saved_bp ? frames[below(frames.size())] : returns[below(2)];
      const uintptr_t from = frames[below(3)];
      const Registers start = {returns[below(2)], from - 16, from, 0, 0, 0, 0, 0};
      const NodeId node = cache_->Capture(start, paths_.table(), &statistics_);
      forgetful.Forget();
      mismatches += node != forgetful.Capture(start, paths_.table(), &ignored);
      word = before;
    }
  }
  EXPECT_EQ(mismatches, 0);
  EXPECT_GT(statistics_.reused, 5000u);
  EXPECT_GT(statistics_.frames_walked, 5000u);
  forgetful.Unmap();
}

}  // namespace
}  // namespace mallow::record
