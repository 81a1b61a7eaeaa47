// tc_set_new_mode. Compiled with exceptions, because a new handler may throw; see retry_new.cc.
#include "api/new_mode.h"

#include <cerrno>

#include "api/cxx_runtime.h"
#include "mallow/tc.h"

asm(".weak __gxx_personality_v0\n\t.weak __cxa_begin_catch\n\t.weak __cxa_end_catch");

namespace mallow::api {
namespace {

void* AskHandler(Attempt attempt, const void* context) {
  try {
    for (;;) {
      if (void* p = attempt(context)) return p;
      const std::new_handler handler = CurrentNewHandler();
      if (handler == nullptr) return nullptr;
      handler();
    }
  } catch (...) {
    errno = ENOMEM;
    return nullptr;
  }
}

}  // namespace
}  // namespace mallow::api

using namespace mallow::api;

extern "C" {

MALLOW_EXPORT int tc_set_new_mode(int mode) noexcept {
  return g_insist.exchange(mode != 0 ? AskHandler : nullptr) != nullptr;
}

MALLOW_EXPORT int tc_query_new_mode() noexcept { return g_insist.load() != nullptr; }

}  // extern "C"
