// The start of the library: at the first call that the hit paths cannot serve (all of the first ones), at the
// latest by a constructor. Reads the options, starts the recorder, prepares the heap for fork.
#pragma once

#include "base/config.h"
#include "record/control.h"

namespace mallow::api {

// Any thread. Returns when the library is started, or at once to the thread that is starting it: its calls are
// served by the heap as it stands. In a started library: carries out what it was told to, see record/control.h. Keeps
// errno.
MALLOW_COLD void StartLibraryOrAttend();

MALLOW_ALWAYS_INLINE void EnsureStarted() {
  if (record::AttentionWanted()) StartLibraryOrAttend();
}

}  // namespace mallow::api
