// The processor's time stamp counter: a clock of one instruction that also orders what different threads do.
//
// Thread safety: every function from any thread at any time; errno stays.
#pragma once

#include "base/config.h"

namespace mallow::os {

// Read after all loads before it are done and before any store behind it is seen by others. So where the counters
// agree (below), a thread that has seen what another one stored after reading reads a greater value. About 25 cycles.
MALLOW_ALWAYS_INLINE uint64_t ReadCycleCounter() {
  uint64_t low, high;
  asm volatile("rdtscp" : "=a"(low), "=d"(high) : : "rcx", "memory");
  return high << 32 | low;
}

// Whether the counters of all processors tick alike and show the same time: the processor says that they never stop or
// change their rate, and the kernel, which compares them all the time, still offers them as a clock. Opens a file.
bool CycleCountersAgree();

}  // namespace mallow::os
