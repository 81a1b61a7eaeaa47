// What is locked while the process forks.
//
// libc's fork locks the list of all streams, after the handlers of pthread_atfork have run. A thread that flushes all
// streams holds that lock and waits for a stream, whose reader may wait for the heap: so the list comes before the heap
// here too. The same thread may lock it again, as fork then does.
#include "api/fork.h"

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

void Before() {
  for (;;) {
    _IO_list_lock();
    if (record::TryBeforeFork()) {
      if (heap::TryBeforeFork()) return;
      record::AfterFork(false);
    }
    _IO_list_unlock();
    os::Nap();
  }
}

void InParent() {
  heap::AfterForkInParent();
  record::AfterFork(false);
  _IO_list_unlock();
}

// The child of a process of several threads has reset it already; that of a single one has it locked by us alone.
void InChild() {
  heap::AfterForkInChild();
  record::AfterFork(true);
  _IO_list_resetlock();
}

}  // namespace

// What pthread_atfork calls, which is linked into whoever uses it, behind all else: the code that every program executes
// is to stand together.
void LockAtFork() { __register_atfork(Before, InParent, InChild, &__dso_handle); }

}  // namespace mallow::api
