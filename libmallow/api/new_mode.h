// The mode of tc_set_new_mode: whether the tc_ names of malloc ask the new handler of C++.
#pragma once

#include <atomic>

#include "base/config.h"

namespace mallow::api {

// One try to serve a call, with what it needs.
using Attempt = void* (*)(const void* context);

// Asks the new handler and tries again until it is served or there is no handler, or one that throws: null then.
using Insist = void* (*)(Attempt attempt, const void* context);

// Null in mode 0. Set, not called by name, so that libmallow.a brings the need of a C++ runtime only into programs
// that set the mode.
MALLOW_INTERNAL extern std::atomic<Insist> g_insist;

// By value, so that the caller keeps nothing in memory and can leave by a jump.
template <typename Serve>
MALLOW_COLD void* ServeInsisting(Insist insist, Serve serve) {
  return insist([](const void* context) { return (*static_cast<const Serve*>(context))(); }, &serve);
}

// Serves by `serve()`: in mode 0 by a jump, as slow.h wants it.
template <typename Serve>
MALLOW_ALWAYS_INLINE void* ServeInMode(Serve serve) {
  const Insist insist = g_insist.load(std::memory_order_relaxed);
  if (MALLOW_LIKELY(insist == nullptr)) return serve();
  return ServeInsisting(insist, serve);
}

}  // namespace mallow::api
