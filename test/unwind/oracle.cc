#include "oracle.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdio.h>
#include <unistd.h>

namespace mallow::unwind_test {

namespace {

using record::kRoot;
using record::kTagSignalFrame;
using record::kTagTruncated;
using record::NodeId;

constexpr uint64_t kValueMask = (uint64_t{1} << 56) - 1;

uint64_t TagOf(const PathFrame& frame) { return frame.frame >> 56; }

// libunwind's cursor with what the comparison asks of it.
class Oracle {
 public:
  explicit Oracle(unw_context_t* context) { unw_init_local(&cursor_, context); }

  uintptr_t Get(int reg) {
    unw_word_t value = 0;
    unw_get_reg(&cursor_, reg, &value);
    return value;
  }
  uintptr_t pc() { return Get(UNW_REG_IP); }
  uintptr_t sp() { return Get(UNW_REG_SP); }
  // Whether the present frame was interrupted by a signal.
  bool interrupted() const { return interrupted_; }

  // Where no table covers the pc libunwind makes up a procedure of one byte.
  bool HasUnwindInfo() {
    unw_proc_info_t info;
    return unw_get_proc_info(&cursor_, &info) == 0 && info.end_ip - info.start_ip > 1;
  }

  // False at the end of the stack, and where no table leads further (libunwind would guess).
  bool Step() {
    if (!HasUnwindInfo() && unw_is_signal_frame(&cursor_) <= 0) return false;
    const bool interrupted = unw_is_signal_frame(&cursor_) > 0;
    if (unw_step(&cursor_) <= 0 || pc() == 0) return false;
    interrupted_ = interrupted;
    return true;
  }

  bool StepTo(const record::Registers& start) {
    while (pc() != start.pc || sp() != start.sp) {
      if (!Step()) return false;
    }
    while (record::InOwnText(pc())) {
      if (!Step()) return false;
    }
    return true;
  }

 private:
  unw_cursor_t cursor_;
  bool interrupted_ = false;
};

}  // namespace

Verdict CompareWithOracle(const record::Registers& start, NodeId node, ReadNode read_node) {
  unw_context_t context;
  unw_getcontext(&context);
  Oracle oracle(&context);
  if (!oracle.StepTo(start)) return Verdict::kNotFound;
  for (;;) {
    if (node == kRoot) return Verdict::kDifferent;
    const PathFrame ours = read_node(node);
    if ((ours.frame & kValueMask) != oracle.pc()) return Verdict::kDifferent;
    if ((TagOf(ours) == kTagSignalFrame) != oracle.interrupted()) return Verdict::kDifferent;
    node = ours.parent;
    const bool truncated = node != kRoot && TagOf(read_node(node)) == kTagTruncated;
    if (truncated) return oracle.HasUnwindInfo() ? Verdict::kDifferent : Verdict::kSameTruncated;
    if (!oracle.Step()) return node == kRoot ? Verdict::kSame : Verdict::kDifferent;
  }
}

void PrintDifference(const record::Registers& start, NodeId node, ReadNode read_node) {
  dprintf(STDERR_FILENO, "ours:  ");
  for (int frames = 0; node != kRoot && frames < 100; ++frames) {
    const PathFrame frame = read_node(node);
    dprintf(STDERR_FILENO, " %lx", static_cast<unsigned long>(frame.frame));
    node = frame.parent;
  }
  dprintf(STDERR_FILENO, "\noracle:");
  unw_context_t context;
  unw_getcontext(&context);
  Oracle oracle(&context);
  if (!oracle.StepTo(start)) dprintf(STDERR_FILENO, " (never comes to the frame of the capture)");
  for (int frames = 0; frames < 100; ++frames) {
    dprintf(STDERR_FILENO, oracle.interrupted() ? " 1%014lx" : " %lx",
            static_cast<unsigned long>(oracle.pc()));
    if (!oracle.Step()) break;
  }
  dprintf(STDERR_FILENO, "\n");
}

void UseNoCache() { unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE); }

void FlushOracle() { unw_flush_cache(unw_local_addr_space, 0, 0); }

}  // namespace mallow::unwind_test
