// What is locked while the process forks.
//
// libc's fork locks the list of all streams, after the handlers of pthread_atfork have run. A thread that flushes all
// streams holds that lock and waits for a stream, whose reader may wait for the heap: so the list comes before the heap
// here too. The same thread may lock it again, as fork then does.
//
// While there is one thread libc's fork leaves the list alone, and so does ours: a signal handler that forks may have
// interrupted that thread between the lock and the word that says whose it is, where it cannot be locked again. Nor are the
// heap's locks taken then. Nobody else can hold one, and each page that they lie in would be copied in the child, and be
// written again in the parent.
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

// Of the fork that is under way. What guards them are the locks of the heap, where there are several threads.
constinit bool locks_heap = false;
constinit bool locks_recorder = false;

bool TryLockAll(bool heap, bool recorder) {
  if (recorder && !record::TryBeforeFork()) return false;
  if (!heap || heap::TryBeforeFork()) return true;
  record::AfterFork(false);
  return false;
}

void Before() {
  const bool several = !__libc_single_threaded;
  // A handler that samples is kept out of it, too.
  const bool recorder = several || record::g_recording;
  for (;;) {
    if (several) _IO_list_lock();
    if (TryLockAll(several, recorder)) break;
    if (several) _IO_list_unlock();
    os::Nap();
  }
  locks_heap = several;
  locks_recorder = recorder;
}

void InParent() {
  const bool several = locks_heap;
  const bool recorder = locks_recorder;
  if (several) heap::AfterForkInParent();
  if (recorder) record::AfterFork(false);
  if (several) _IO_list_unlock();
}

// libc has reset the list already; nothing is left to be locked.
void InChild() {
  const bool several = locks_heap;
  const bool recorder = locks_recorder;
  if (several) heap::AfterForkInChild();
  record::PartFromParent();
  if (recorder) record::AfterFork(true);
  if (several) _IO_list_resetlock();
}

}  // namespace

// What pthread_atfork calls, which is linked into whoever uses it, behind all else: the code that every program executes
// is to stand together.
void LockAtFork() { __register_atfork(Before, InParent, InChild, &__dso_handle); }

}  // namespace mallow::api
