// Captures as a malloc would, and compares each one with the oracle.
#pragma once

#include <cstdint>

#include "record/stack_cache.h"

namespace mallow::unwind_test {

// Captures the stack of its caller and compares it. May be called from signal handlers.
extern "C" void CaptureHere();
// Captures without comparing; for timing and for stacks that the oracle cannot walk in reasonable time.
extern "C" record::NodeId CaptureUnchecked();

struct Totals {
  uint64_t checked, mismatches, truncated, not_found;
};
const Totals& GetTotals();
// This thread's statistics.
record::CaptureStatistics& Statistics();
record::StackCache& Cache();
// A function that CaptureHere calls before each capture; null for none.
void SetObserver(void (*observer)(const record::Registers&));

// Prints the totals and the statistics of the calling thread. Exit status: 0 if something was checked and
// nothing differs.
int Report(const char* name);

}  // namespace mallow::unwind_test
