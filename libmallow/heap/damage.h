// A small block that was freed wrongly, found when it is too late to refuse it.
#pragma once

#include "base/config.h"

namespace mallow::heap {

// Ends the process by `sentence`. A handler of SIGABRT may allocate and free: it is served without the thread's cache, which
// may hold the block once more, or was just being changed. REQUIRES: no lock of the heap is held, and the shared lists are
// whole.
[[noreturn]] MALLOW_COLD void DieOfDamage(const char* sentence, const void* object);

}  // namespace mallow::heap
