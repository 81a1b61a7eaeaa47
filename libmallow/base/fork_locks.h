// A row of locks around a fork, see Spinlock::ForkLock. `lock_at(index)` names them in rank order.
#pragma once

#include <cstddef>

#include "base/spinlock.h"

namespace mallow {

// Ends what TryLockForFork took, in the parent (`child` false) or in the child.
template <typename LockAt>
void UnlockAfterFork(size_t count, bool child, LockAt lock_at) {
  while (count-- > 0) lock_at(count).ForkUnlock(child);
}

// All of them, or none and false when one is not to be had soon.
template <typename LockAt>
bool TryLockForFork(size_t count, LockAt lock_at) {
  for (size_t locked = 0; locked < count; ++locked) {
    if (lock_at(locked).ForkLock()) continue;
    UnlockAfterFork(locked, false, lock_at);
    return false;
  }
  return true;
}

}  // namespace mallow
