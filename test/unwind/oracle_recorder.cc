// Makes libmallow_oracle.so out of libmallow.so: every Nth capture of a recorded program is compared with the oracle.
//
//   MALLOW_ORACLE_EVERY=N     1 compares every capture; default 500
//   MALLOW_ORACLE_FILE=PATH   result of each process in PATH.PID: "checked N mismatches M skipped S", kept up to date
//
// Skipped are captures that cannot be compared: paths that a forked child inherited (their nodes lie in the parent's file).
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "oracle.h"
#include "os/environment.h"
#include "record/oracle_hook.h"
#include "record/process.h"

namespace mallow::record {

namespace {

using unwind_test::PathFrame;
using unwind_test::Verdict;

MALLOW_THREAD_LOCAL uint64_t t_countdown;
MALLOW_THREAD_LOCAL bool t_inside;  // libunwind may allocate
uint64_t g_every;
uint64_t g_checked, g_mismatches, g_skipped;
pid_t g_reporter;  // process that g_file belongs to
int g_file = -1;

uint64_t Every() {
  char text[32];
  const long bytes = os::ReadEnvironment("MALLOW_ORACLE_EVERY", text, sizeof text);
  const uint64_t every = bytes > 0 ? strtoull(text, nullptr, 10) : 0;
  return every == 0 ? 500 : every;
}

PathFrame ReadRecordedNode(NodeId id) {
  const NodeId first = g_process.header().parent_nodes;
  const Step* const steps = g_process.file().Items<Step>(Section::kSteps);
  const FrameId frame = steps[id - first].frame();
  return {g_process.file().Items<FrameItem>(Section::kFrames)[frame].frame(),
          Step::ParentOf(steps, id - first, first)};
}

bool IsOwn(NodeId node) {
  for (; node != kRoot; node = ReadRecordedNode(node).parent) {
    if (node < g_process.header().parent_nodes) return false;
  }
  return true;
}

void OpenReport() {
  char path[4096], name[4200];
  if (g_file >= 0) close(g_file);
  g_file = -1;
  g_reporter = getpid();
  g_checked = g_mismatches = g_skipped = 0;
  if (os::ReadEnvironment("MALLOW_ORACLE_FILE", path, sizeof path) <= 0) return;
  snprintf(name, sizeof name, "%s.%d", path, g_reporter);
  // Out of the way of the descriptors that the program counts on.
  const int low = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  g_file = fcntl(low, F_DUPFD_CLOEXEC, 700);
  close(low);
}

void WriteReport() {
  char line[128];
  const int bytes = snprintf(line, sizeof line, "checked %lu mismatches %lu skipped %lu\n", g_checked,
                             g_mismatches, g_skipped);
  if (g_file >= 0 && pwrite(g_file, line, static_cast<size_t>(bytes), 0) < 0) g_file = -1;
}

}  // namespace

void CheckAgainstOracle(const Registers& start, NodeId node) {
  if (t_countdown > 1) {
    --t_countdown;
    return;
  }
  if (t_inside) return;
  t_inside = true;
  if (g_every == 0) {
    unwind_test::UseNoCache();
    g_every = Every();
  }
  t_countdown = g_every;
  if (g_reporter != getpid()) OpenReport();
  if (node == kRoot || !IsOwn(node)) {
    __atomic_fetch_add(&g_skipped, 1, __ATOMIC_RELAXED);
  } else {
    const Verdict verdict = unwind_test::CompareWithOracle(start, node, ReadRecordedNode);
    __atomic_fetch_add(&g_checked, 1, __ATOMIC_RELAXED);
    if (verdict == Verdict::kDifferent || verdict == Verdict::kNotFound) {
      if (__atomic_fetch_add(&g_mismatches, 1, __ATOMIC_RELAXED) < 5) {
        unwind_test::PrintDifference(start, node, ReadRecordedNode);
      }
    }
  }
  WriteReport();
  t_inside = false;
}

}  // namespace mallow::record
