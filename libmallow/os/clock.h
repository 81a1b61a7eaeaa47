// Clocks, in nanoseconds: the kernel's, whatever clock_gettime the program has. No system call where there is a vdso
// (about 20 ns). Thread-safe, async-signal-safe; errno stays.
#pragma once

#include "base/config.h"

namespace mallow::os {

// Since some fixed moment; never goes back.
uint64_t MonotonicNanoseconds();
// The same clock, up to 4 ms late and cheaper.
uint64_t CoarseNanoseconds();
// Since 1970-01-01 UTC.
uint64_t RealtimeNanoseconds();

}  // namespace mallow::os
