// Signal handlers and masks, asked of the kernel itself: the program may have replaced libc's functions. Thread-safe;
// errno stays.
#pragma once

#include <signal.h>

#include <cstdint>

namespace mallow::os {

using SignalHandler = void (*)(int signal, siginfo_t* info, void* context);

// Makes `handler` that of `signal`: on the alternate stack where the thread has one, with every signal blocked meanwhile,
// and calls that it interrupts go on. False: the kernel refuses.
bool HandleSignal(int signal, SignalHandler handler);
bool HandlesSignal(int signal, SignalHandler handler);
// In the calling thread.
void UnblockSignal(int signal);

// While it lives no handler interrupts the calling thread, but by a signal that the thread itself raises by what it does,
// such as SIGSEGV. Two system calls.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_;  // as the kernel has it
  bool blocked_;
};

}  // namespace mallow::os
