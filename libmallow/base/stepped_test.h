// Interrupts code between any two of its instructions, for tests of what others may do meanwhile.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstddef>

#include "base/config.h"

namespace mallow {

class Stepped {
 public:
  // Why code cannot be stepped through in this build; null: it can be.
  static constexpr const char* kRefusal = kThreadSanitized
                                              ? "ThreadSanitizer makes a call of each access, and a trap at "
                                                "each of so many instructions takes minutes"
                                              : nullptr;

  // Runs `code`, and `meanwhile` before its instruction of that number. False: it has fewer.
  template <typename Code, typename Meanwhile>
  static bool InterruptAt(size_t instruction, Code code, Meanwhile meanwhile) {
    left_ = instruction + 1;
    meanwhile_ = [](void* context) { (*static_cast<Meanwhile*>(context))(); };
    context_ = &meanwhile;
    struct sigaction ours = {}, before;
    ours.sa_sigaction = &OnTrap;
    ours.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &ours, &before);
    SetTrapFlag();
    code();
    ClearTrapFlag();
    sigaction(SIGTRAP, &before, nullptr);
    return left_ == 0;
  }

 private:
  static constexpr greg_t kTrapFlag = 0x100;

  // Below the stack pointer there may be something.
  static void SetTrapFlag() {
    asm volatile("leaq -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n leaq 128(%%rsp), %%rsp" ::
                     : "memory", "cc");
  }
  static void ClearTrapFlag() {
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n leaq 128(%%rsp), %%rsp" ::
            : "memory", "cc");
  }
  static void OnTrap(int, siginfo_t*, void* context) {
    if (--left_ != 0) return;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    meanwhile_(context_);
  }

  static inline size_t left_;
  static inline void (*meanwhile_)(void*);
  static inline void* context_;
};

}  // namespace mallow
