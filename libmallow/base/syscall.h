// The system call instruction. Used by base/ and os/ only; everybody else calls os/.
//
// Not through libc: its wrappers write errno, are points of cancellation, can be replaced by the program, and
// are not yet usable in the first calls of a process. Returns the kernel's value: -errno on error.
#pragma once

#include "base/config.h"

namespace mallow {

MALLOW_ALWAYS_INLINE long SystemCall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                                     long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace mallow
