// The start of the library: at the first call that the hit paths cannot serve (all of the first ones), at the
// latest by a constructor. Reads the options, starts the recorder, prepares the heap for fork.
#pragma once

#include <atomic>

#include "base/config.h"

namespace mallow::api {

extern std::atomic<bool> g_started;

// Any thread. Returns when the library is started, or at once to the thread that is starting it: its calls are
// served by the heap as it stands. Keeps errno.
MALLOW_COLD void StartLibrary();

MALLOW_ALWAYS_INLINE void EnsureStarted() {
  if (MALLOW_UNLIKELY(!g_started.load(std::memory_order_acquire))) StartLibrary();
}

}  // namespace mallow::api
