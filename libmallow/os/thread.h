// Threads as the system knows them. Thread-safe; nothing here writes errno or allocates, except where said.
#pragma once

#include <cstdint>

#include "base/config.h"

namespace mallow::os {

// Kernel ids of the calling thread and of its process (system calls, about 50 ns).
int ThreadId();
int ProcessId();
int ParentProcessId();
uint32_t UserId();  // the effective one

// How often libc's vfork was called. Only libmallow.so counts (api/vfork_shared.cc); with libmallow.a it stays 0.
extern MALLOW_INTERNAL uint32_t g_vforks asm("mallow_vforks");
MALLOW_ALWAYS_INLINE uint32_t Vforks() { return __atomic_load_n(&g_vforks, __ATOMIC_RELAXED); }

// Whether the process has a thread with this kernel id. How many it has, 0 where that cannot be found out.
bool HasThread(int thread_id);
uint64_t CountThreads();

// On which the calling thread runs, from 0 on; it may run on another one before this returns. 2 to 20 ns: without a system
// call where libc has restartable sequences or the kernel a function for it.
unsigned Processor();

// Where the stack that the system gave the calling thread ends: on it, above all frames. Of the first thread only after
// it was noted; before, it is elsewhere.
uintptr_t StackEnd();
// To be called by the first thread; by another it does nothing.
void NoteFirstThread();
// Of the calling thread, from now on, and of no other for which it was called before.
void SetStackEnd(uintptr_t end);

// Lets other threads run for a moment, also those of lower priority, for which sched_yield does nothing.
void Nap();

// A function that runs once in each thread that armed it, when the thread ends, after most of the thread's
// own destructors. There is room for few hooks in a process.
class ThreadExitHook {
 public:
  constexpr ThreadExitHook() = default;

  // Once per hook, before Arm; a second call does nothing. False: the process has no key left, and
  // threads will end unseen. Does not allocate.
  bool Create(void (*at_exit)(void* value));

  // In the calling thread: `value` (not null) will be handed to the function. May call malloc in a
  // process with many keys: the caller must stand that. False: it will not run.
  bool Arm(void* value);

 private:
  unsigned key_plus_one_ = 0;
};

}  // namespace mallow::os
