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

// Those behind the lock of the registry, under which there are no more of them.
size_t Locks() { return (TransferCachesUsed() + 1) * kClasses + 1; }

// In rank order.
Spinlock& LockAt(size_t index) {
  const size_t row = index / kClasses;
  const SizeClass size_class = static_cast<SizeClass>(1 + index % kClasses);
  const size_t transfer_caches = TransferCachesUsed();
  if (row < transfer_caches) return TransferCacheAt(size_class, static_cast<unsigned>(row)).lock();
  return row == transfer_caches ? shared_lists[size_class].central.lock() : page_heap.lock();
}

void Unlock(bool child) {
  UnlockAfterFork(Locks(), child, LockAt);
  thread_registry.lock().ForkUnlock(child);
}

}  // namespace

bool TryBeforeFork() {
  if (!thread_registry.lock().ForkLock()) return false;
  if (TryLockForFork(Locks(), LockAt)) return true;
  thread_registry.lock().ForkUnlock(false);
  return false;
}

void BeforeFork() {
  // Not only yield: who holds it may be of lower priority.
  while (!TryBeforeFork()) os::Nap();
}

void AfterForkInParent() { Unlock(false); }

void AfterForkInChild() {
  if (thread_registry.lock().TakenByFork()) thread_registry.KeepOnlyThisThread();
  Unlock(true);
}

}  // namespace mallow::heap
