// What valgrind is told, where it executes this process. It knows a request by five instructions that change nothing
// (valgrind.h, "client requests"), and nobody else does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mallow::os {

inline uintptr_t AskValgrind(uintptr_t what, uintptr_t first, uintptr_t second) {
  const volatile uintptr_t request[6] = {what, first, second};
  uintptr_t answer = 0;
  __asm__ volatile(
      "rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
      : "+d"(answer)
      : "a"(request)
      : "cc", "memory");
  return answer;
}

inline bool IsOnValgrind() { return AskValgrind(0x1001, 0, 0) != 0; }

// The code there has changed. Valgrind executes what it made of code when it first came by, and does not look again at that
// of files.
inline void DiscardTranslations(const void* code, size_t bytes) {
  AskValgrind(0x1002, reinterpret_cast<uintptr_t>(code), bytes);
}

}  // namespace mallow::os
