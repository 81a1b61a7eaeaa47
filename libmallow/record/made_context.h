// Where the stacks of makecontext end.
#pragma once

#include "record/eh_frame.h"

namespace mallow::record {

// The return address that makecontext puts at the outer end of the stacks it makes: the first byte of a function of libc
// that has no caller. No call stands before it, so no unwind table covers it as a return address. Libc is
// asked by making a context in `scratch`, once per process. Thread-safe; allocates nothing.
uintptr_t StartOfMadeContexts(UnwindScratch* scratch);

}  // namespace mallow::record
