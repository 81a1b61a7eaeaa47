#include "capture_here.h"

#include <stdio.h>

#include <atomic>

#include "node_map.h"
#include "oracle.h"
#include "os/thread.h"

// Hands the state of the caller, as at its call instruction, to the C function.
#define MALLOW_CAPTURE_ENTRY(name, target)                      \
  asm(".text\n.globl " name "\n.type " name ",@function\n" name \
      ":\n"                                                     \
      ".cfi_startproc\n"                                        \
      "sub $72, %rsp\n"                                         \
      ".cfi_adjust_cfa_offset 72\n"                             \
      "mov 72(%rsp), %rax\n"                                    \
      "mov %rax, 0(%rsp)\n"                                     \
      "lea 80(%rsp), %rax\n"                                    \
      "mov %rax, 8(%rsp)\n"                                     \
      "mov %rbp, 16(%rsp)\n"                                    \
      "mov %rbx, 24(%rsp)\n"                                    \
      "mov %r12, 32(%rsp)\n"                                    \
      "mov %r13, 40(%rsp)\n"                                    \
      "mov %r14, 48(%rsp)\n"                                    \
      "mov %r15, 56(%rsp)\n"                                    \
      "mov %rsp, %rdi\n"                                        \
      "call " target                                            \
      "\n"                                                      \
      "add $72, %rsp\n"                                         \
      ".cfi_adjust_cfa_offset -72\n"                            \
      "ret\n"                                                   \
      ".cfi_endproc\n"                                          \
      ".size " name ", . - " name "\n")

MALLOW_CAPTURE_ENTRY("CaptureHere", "CheckCapture");
MALLOW_CAPTURE_ENTRY("CaptureUnchecked", "PlainCapture");

namespace mallow::unwind_test {

[[gnu::constructor]] static void NoteFirstThread() { os::NoteFirstThread(); }

namespace {

thread_local constinit record::StackCache t_cache;
thread_local constinit record::CaptureStatistics t_statistics{};
Totals g_totals;
std::atomic<int> g_printed{0};
void (*g_observer)(const record::Registers&);

PathFrame ReadMapNode(record::NodeId id) {
  const MapNode& node = NodeAt(id);
  return {node.frame, node.parent};
}

void Add(uint64_t* total) { __atomic_fetch_add(total, 1, __ATOMIC_RELAXED); }

}  // namespace

extern "C" __attribute__((used, noinline)) void CheckCapture(const record::Registers* registers) {
  if (g_observer != nullptr) g_observer(*registers);
  const record::NodeId node = t_cache.Capture(*registers, Table(), &t_statistics);
  Add(&g_totals.checked);
  const Verdict verdict = CompareWithOracle(*registers, node, ReadMapNode);
  if (verdict == Verdict::kSameTruncated) Add(&g_totals.truncated);
  if (verdict == Verdict::kNotFound) Add(&g_totals.not_found);
  if (verdict != Verdict::kDifferent) return;
  Add(&g_totals.mismatches);
  if (g_printed.fetch_add(1) < 3) PrintDifference(*registers, node, ReadMapNode);
}

extern "C" __attribute__((used, noinline)) record::NodeId PlainCapture(const record::Registers* registers) {
  return t_cache.Capture(*registers, Table(), &t_statistics);
}

const Totals& GetTotals() { return g_totals; }
record::CaptureStatistics& Statistics() { return t_statistics; }
record::StackCache& Cache() { return t_cache; }
void SetObserver(void (*observer)(const record::Registers&)) { g_observer = observer; }

int Report(const char* name) {
  printf("%s: checked %lu mismatches %lu truncated %lu not found %lu\n", name, g_totals.checked,
         g_totals.mismatches, g_totals.truncated, g_totals.not_found);
  printf("this thread: captures %lu reused %lu walked %lu verified %lu interpreted %lu truncated %lu\n",
         t_statistics.captures, t_statistics.reused, t_statistics.frames_walked, t_statistics.frames_verified,
         t_statistics.frames_interpreted, t_statistics.truncated);
  return g_totals.checked != 0 && g_totals.mismatches == 0 && g_totals.not_found == 0 ? 0 : 1;
}

}  // namespace mallow::unwind_test
