// Clocks, in nanoseconds. No system call where the kernel offers the vDSO (about 20 ns). Thread-safe; errno
// stays.
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
