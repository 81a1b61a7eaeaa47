#include <cstdint>
#include <cstring>

#include "api/redirect.h"
#include "base/bits.h"
#include "base/config.h"
#include "os/memory.h"
#include "record/recorder.h"

namespace mallow::api {
namespace {

constexpr size_t kJumpBytes = 5;

void Write(const Redirection& redirection) {
  char* const from = redirection.from;
  const auto distance = static_cast<int32_t>(reinterpret_cast<intptr_t>(redirection.to) -
                                             reinterpret_cast<intptr_t>(from + kJumpBytes));
  from[0] = static_cast<char>(0xe9);
  memcpy(from + 1, &distance, sizeof(distance));
}

// After StartAtLoad, before the code of the program and of all libraries that need a C++ runtime.
[[gnu::constructor]] MALLOW_COLD void RedirectAtLoad() {
  const bool forwards = ForwardToReplaced();
  if (record::g_recording_all) AskRecorderFirst(forwards);
}

}  // namespace

MALLOW_COLD void Redirect(const Redirection* redirections, size_t count) {
  uintptr_t begin = ~uintptr_t{0}, end = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto from = reinterpret_cast<uintptr_t>(redirections[i].from);
    begin = Min(begin, RoundDown(from, os::PageSize()));
    end = Max(end, RoundUp(from + kJumpBytes, os::PageSize()));
  }
  if (!os::OpenCode(reinterpret_cast<void*>(begin), end - begin)) return;
  for (size_t i = 0; i < count; ++i) Write(redirections[i]);
  os::ProtectCode(reinterpret_cast<void*>(begin), end - begin);
}

}  // namespace mallow::api
