#include "os/signal.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace mallow::os {
namespace {

volatile sig_atomic_t handled;
void OnSignal(int) { handled = handled + 1; }

void Handle(int signal) {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  ASSERT_EQ(0, sigaction(signal, &action, nullptr));
  handled = 0;
}

bool IsBlocked(int signal) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(SignalsBlocked, HandlersRunAfterwards) {
  Handle(SIGUSR1);
  {
    const SignalsBlocked outer;
    {
      const SignalsBlocked inner;
      raise(SIGUSR1);
    }
    EXPECT_EQ(0, handled);
  }
  // The thread sanitizer lets a handler run from its next call of libc only.
  for (int tries = 0; handled == 0 && tries < 1000; ++tries) usleep(1000);
  EXPECT_EQ(1, handled);
}

TEST(SignalsBlocked, WhatWasBlockedStaysSo) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  { const SignalsBlocked blocked; }
  EXPECT_TRUE(IsBlocked(SIGUSR2));
  EXPECT_FALSE(IsBlocked(SIGUSR1));
}

// Of a sandbox that answers system calls by SIGSYS the program would die.
TEST(SignalsBlocked, WhatTheThreadRaisesItselfIsHandled) {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) {
    Handle(signal);
    const SignalsBlocked blocked;
    raise(signal);
    EXPECT_EQ(1, handled) << signal;
  }
}

}  // namespace
}  // namespace mallow::os
