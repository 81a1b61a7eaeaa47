// Clocks, in nanoseconds: the kernel's, whatever clock_gettime the program has. The coarse ones are up to 4 ms late, and
// make no system call where there is a vdso (about 5 ns). Thread-safe, async-signal-safe; errno stays.
#pragma once

#include "base/config.h"

namespace mallow::os {

// Since some fixed moment; never goes back.
uint64_t MonotonicNanoseconds();
uint64_t CoarseNanoseconds();
// Since 1970-01-01 UTC.
uint64_t RealtimeNanoseconds();
uint64_t CoarseRealtimeNanoseconds();

// From one tick of the kernel's clock to the next: so late the coarse ones are at the most.
uint64_t TickNanoseconds();

}  // namespace mallow::os
