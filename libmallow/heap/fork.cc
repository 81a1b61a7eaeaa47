// Fork: the child gets every structure between two operations, never inside one.
//
// All locks are taken before, in rank order, and released after. One that the forking thread holds already (it forks
// from a signal handler that interrupted malloc) is skipped, and in the child the interrupted operation goes on as in
// the parent.
//
// Such a thread waits for the others while it holds one, and so may a second that forks: whoever does not get the next
// lock soon gives back those that it took, and begins anew. Only two handlers that each interrupted a critical section
// at the same moment wait for each other for ever, as with any malloc that has locks.
#include "base/fork_locks.h"
#include "heap/heap.h"
#include "heap/page_heap.h"
#include "heap/shared_lists.h"
#include "heap/thread_registry.h"
#include "os/thread.h"

namespace mallow::heap {
namespace {

constexpr size_t kClasses = kClassCount - 1;
constexpr size_t kLocks = 2 * kClasses + 2;

// In rank order.
Spinlock& LockAt(size_t index) {
  if (index == 0) return thread_registry.lock();
  if (index <= kClasses) return shared_lists[index].transfer.lock();
  if (index <= 2 * kClasses) return shared_lists[index - kClasses].central.lock();
  return page_heap.lock();
}

}  // namespace

bool TryBeforeFork() { return TryLockForFork(kLocks, LockAt); }

void BeforeFork() {
  // Not only yield: who holds it may be of lower priority.
  while (!TryBeforeFork()) os::Nap();
}

void AfterForkInParent() { UnlockAfterFork(kLocks, false, LockAt); }

void AfterForkInChild() {
  if (thread_registry.lock().TakenByFork()) thread_registry.KeepOnlyThisThread();
  UnlockAfterFork(kLocks, true, LockAt);
}

}  // namespace mallow::heap
