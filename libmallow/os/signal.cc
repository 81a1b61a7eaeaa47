#include "os/signal.h"

#include <sys/syscall.h>

#include "base/syscall.h"

// What a handler returns to.
extern "C" MALLOW_INTERNAL void mallow_return_from_signal();
asm(R"(
  .pushsection .text
  .balign 16
  nop
  .globl mallow_return_from_signal
  .hidden mallow_return_from_signal
  .type mallow_return_from_signal, @function
mallow_return_from_signal:
  mov $15, %eax
  syscall
  .size mallow_return_from_signal, . - mallow_return_from_signal
  .popsection
)");
static_assert(SYS_rt_sigreturn == 15);

namespace mallow::os {
namespace {

// As the kernel has it.
struct Action {
  SignalHandler handler;
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};
constexpr unsigned long kHasRestorer = 0x04000000;

constexpr uint64_t Bit(int signal) { return uint64_t{1} << (signal - 1); }

}  // namespace

bool HandleSignal(int signal, SignalHandler handler) {
  const Action action = {handler, SA_SIGINFO | SA_RESTART | SA_ONSTACK | kHasRestorer,
                         &mallow_return_from_signal, ~uint64_t{0}};
  return SystemCall(SYS_rt_sigaction, signal, reinterpret_cast<long>(&action), 0, sizeof(action.mask)) == 0;
}

bool HandlesSignal(int signal, SignalHandler handler) {
  Action action = {};
  return SystemCall(SYS_rt_sigaction, signal, 0, reinterpret_cast<long>(&action), sizeof(action.mask)) == 0 &&
         action.handler == handler;
}

void UnblockSignal(int signal) {
  const uint64_t only = Bit(signal);
  SystemCall(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&only), 0, sizeof(only));
}

// The kernel ends a process that raises one of the others while it is blocked.
SignalsBlocked::SignalsBlocked() {
  constexpr uint64_t kNotRaisedHere =
      ~(Bit(SIGSEGV) | Bit(SIGBUS) | Bit(SIGILL) | Bit(SIGFPE) | Bit(SIGTRAP) | Bit(SIGSYS));
  blocked_ = SystemCall(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&kNotRaisedHere),
                        reinterpret_cast<long>(&before_), sizeof(before_)) == 0;
}

SignalsBlocked::~SignalsBlocked() {
  if (blocked_)
    SystemCall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, sizeof(before_));
}

}  // namespace mallow::os
