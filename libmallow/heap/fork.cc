// Fork: the child gets every structure between two operations, never inside one.
//
// All locks are taken before, in rank order, and released after. Nobody waits for one of them while holding
// another, so this ends even when the forking thread holds one itself (it forks from a signal handler that
// interrupted malloc): that one is skipped, and in the child the interrupted operation goes on as in the parent.
#include "heap/central_list.h"
#include "heap/heap.h"
#include "heap/page_heap.h"
#include "heap/thread_registry.h"
#include "heap/transfer_cache.h"

namespace mallow::heap {
namespace {

void UnlockAll(bool child) {
  page_heap.lock().ForkUnlock(child);
  for (SizeClass c = kClassCount; c-- > 1;) central_lists[c].lock().ForkUnlock(child);
  for (SizeClass c = kClassCount; c-- > 1;) transfer_caches[c].lock().ForkUnlock(child);
  thread_registry.lock().ForkUnlock(child);
}

}  // namespace

void BeforeFork() {
  thread_registry.lock().ForkLock();
  for (SizeClass c = 1; c < kClassCount; ++c) transfer_caches[c].lock().ForkLock();
  for (SizeClass c = 1; c < kClassCount; ++c) central_lists[c].lock().ForkLock();
  page_heap.lock().ForkLock();
}

void AfterForkInParent() { UnlockAll(false); }

void AfterForkInChild() {
  if (thread_registry.lock().TakenByFork()) thread_registry.KeepOnlyThisThread();
  UnlockAll(true);
}

}  // namespace mallow::heap
