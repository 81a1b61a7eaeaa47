// Where a recorded call came from: the caller's registers as they were at its call.
//
// Exact only as the first thing in a function that keeps nothing in callee-saved registers before it:
// the functions of recorded.cc hold their arguments in memory that the recorder is given, for this reason
// (test/surface checks their machine code).
#pragma once

#include <cstdint>

#include "record/unwind.h"

// The frame that __builtin_frame_address(0) names holds the caller's rbp, then the return address; the
// caller's stack pointer after the return is the word above. Stored word by word: the stack may be off by one, see
// MALLOW_ALIGNS_STACK.
#define MALLOW_CAPTURE_CALLER(registers)                                                             \
  do {                                                                                               \
    asm volatile("mov %%rbx, %0\n\tmov %%r12, %1\n\tmov %%r13, %2\n\tmov %%r14, %3\n\tmov %%r15, %4" \
                 : "=m"((registers).bx), "=m"((registers).r12), "=m"((registers).r13),               \
                   "=m"((registers).r14), "=m"((registers).r15));                                    \
    const auto* mallow_frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));            \
    volatile auto& mallow_registers = registers;                                                     \
    mallow_registers.bp = mallow_frame[0];                                                           \
    mallow_registers.pc = mallow_frame[1];                                                           \
    mallow_registers.sp = reinterpret_cast<uintptr_t>(mallow_frame + 2);                             \
  } while (false)
