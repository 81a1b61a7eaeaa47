#include <cstdint>
#include <cstring>

#include "api/redirect.h"
#include "base/bits.h"
#include "base/config.h"
#include "os/memory.h"
#include "record/recorder.h"

namespace mallow::api {
namespace {

constexpr size_t kMostBytes = 12;

// An instruction that ends in the distance of `target` from its own end. Returns where the next one begins.
template <size_t kBytes>
char* Write(char* at, const char (&opcode)[kBytes], const void* target) {
  int32_t distance;
  constexpr size_t kOpcodeBytes = kBytes - 1;
  char* const end = at + kOpcodeBytes + sizeof(distance);
  distance = static_cast<int32_t>(static_cast<const char*>(target) - end);
  memcpy(at, opcode, kOpcodeBytes);
  memcpy(at + kOpcodeBytes, &distance, sizeof(distance));
  return end;
}

void Write(const Redirection& redirection) {
  char* next = redirection.from;
  if (redirection.place == 2) next = Write(next, "\x48\x8d\x35", redirection.last);  // lea ...(%rip), %rsi
  if (redirection.place == 3) next = Write(next, "\x48\x8d\x15", redirection.last);  // lea ...(%rip), %rdx
  Write(next, "\xe9", redirection.to);                                               // jmp
}

// After StartAtLoad, before the code of the program and of all libraries that need a C++ runtime.
[[gnu::constructor]] MALLOW_COLD void RedirectAtLoad() {
  const bool forwards = ForwardToReplaced();
  if (record::g_recording) AskRecorderFirst(forwards);
}

}  // namespace

MALLOW_COLD void Redirect(const Redirection* redirections, size_t count) {
  uintptr_t begin = ~uintptr_t{0}, end = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto from = reinterpret_cast<uintptr_t>(redirections[i].from);
    begin = Min(begin, RoundDown(from, os::PageSize()));
    end = Max(end, RoundUp(from + kMostBytes, os::PageSize()));
  }
  if (!os::OpenCode(reinterpret_cast<void*>(begin), end - begin)) return;
  for (size_t i = 0; i < count; ++i) Write(redirections[i]);
  os::ProtectCode(reinterpret_cast<void*>(begin), end - begin);
}

}  // namespace mallow::api
