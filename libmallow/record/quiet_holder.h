// Holds a lock of the recorder that a thread may wait for while it has another, or that is held for long.
//
// No handler interrupts such a section. One that forks waits for all locks, and so for a thread that waits, with a lock of
// its own, for the one that was interrupted: for ever.
#pragma once

#include "base/spinlock.h"
#include "os/signal.h"

namespace mallow::record {

class QuietHolder {
 public:
  explicit QuietHolder(Spinlock& lock) : holder_(lock) {}
  QuietHolder(const QuietHolder&) = delete;
  QuietHolder& operator=(const QuietHolder&) = delete;

 private:
  const os::SignalsBlocked blocked_;  // first to come, last to go
  SpinlockHolder holder_;
};

}  // namespace mallow::record
