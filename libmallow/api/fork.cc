// What is locked while the process forks.
//
// libc's fork locks the list of all streams, after the handlers of pthread_atfork have run. A thread that flushes all
// streams holds that lock and waits for a stream, whose reader may wait for the heap: so the list comes before the heap
// here too. The same thread may lock it again, as fork then does.
//
// While there is one thread libc's fork leaves the list alone, and so does ours: a signal handler that forks may have
// interrupted that thread between the lock and the word that says whose it is, where it cannot be locked again.
#include "api/fork.h"

#include <sys/single_threaded.h>

#include "heap/heap.h"
#include "os/thread.h"
#include "record/recorder.h"

extern "C" {
void _IO_list_lock();
void _IO_list_unlock();
void _IO_list_resetlock();
int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* dso);
extern void* __dso_handle;
}

namespace mallow::api {
namespace {

// By the fork that is under way. What guards it are the locks of the heap.
constinit bool list_is_locked = false;

void Before() {
  const bool locks_list = !__libc_single_threaded;
  for (;;) {
    if (locks_list) _IO_list_lock();
    if (record::TryBeforeFork()) {
      if (heap::TryBeforeFork()) break;
      record::AfterFork(false);
    }
    if (locks_list) _IO_list_unlock();
    os::Nap();
  }
  list_is_locked = locks_list;
}

void InParent() {
  const bool unlocks_list = list_is_locked;
  heap::AfterForkInParent();
  record::AfterFork(false);
  if (unlocks_list) _IO_list_unlock();
}

// libc has reset it already; nothing is left to be locked.
void InChild() {
  const bool resets_list = list_is_locked;
  heap::AfterForkInChild();
  record::AfterFork(true);
  if (resets_list) _IO_list_resetlock();
}

}  // namespace

// What pthread_atfork calls, which is linked into whoever uses it, behind all else: the code that every program executes
// is to stand together.
void LockAtFork() { __register_atfork(Before, InParent, InChild, &__dso_handle); }

}  // namespace mallow::api
