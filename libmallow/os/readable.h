// Whether memory may be read, asked without reading it.
#pragma once

#include "base/config.h"

namespace mallow::os {

// True if the aligned word at `address` can be read now. One system call that changes nothing and that
// sandboxes let through (an invalid request to rt_sigprocmask, whose argument the kernel reads before it refuses).
// Async-signal-safe; does not touch errno.
bool IsReadable(uintptr_t address);

}  // namespace mallow::os
