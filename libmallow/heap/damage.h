// What a program is told when it has damaged the heap, or is about to.
#pragma once

#include "base/config.h"

namespace mallow::heap {

// Ends the process: `p`, given to `call`, as in "free()", is not the start of a block.
[[noreturn]] MALLOW_COLD void DieOfNoBlock(const char* call, const void* p);

// Ends the process by `sentence`, of a small block that was freed wrongly, found when it is too late to refuse it. A handler of SIGABRT may allocate and free: it is served without the thread's cache, which
// may hold the block once more, or was just being changed. REQUIRES: no lock of the heap is held, and the shared lists are
// whole.
[[noreturn]] MALLOW_COLD void DieOfDamage(const char* sentence, const void* object);

}  // namespace mallow::heap
