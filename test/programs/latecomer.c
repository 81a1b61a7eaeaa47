/* A thread that is held up in a malloc of one session until another one is just beginning: latecomer FOLDER AT
 *
 * The first session, of which there are many stacks, is ended while the late thread waits for memory of the system. It goes
 * on at system call AT of those that begin the second one, for as long as it can without the first thread. The second session
 * is of 50 blocks from counted(), and perhaps the one from late(). Exits with 3 where there is no such system call. */
#define _GNU_SOURCE
#include <mallow/mallow.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trapped_calls.h"
#include "wait_briefly.h"

__typeof__(mallow_record_start) mallow_record_start __attribute__((weak));
__typeof__(mallow_record_stop) mallow_record_stop __attribute__((weak));

enum { kBytes = 100, kCalls = 50, kLate = 64 << 20, kStacks = 300 };

static sem_t held, go, done;
static volatile int at, seen, starting;
static __thread volatile int to_be_held;
static void* volatile kept;

static void AtCall(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  greg_t* const r = ((ucontext_t*)context)->uc_mcontext.gregs;
  if (to_be_held && r[REG_RAX] == SYS_mmap) {
    to_be_held = 0;
    sem_post(&held);
    while (sem_wait(&go) != 0) continue;
  } else if (starting && ++seen == at) {
    starting = 0;
    sem_post(&go);
    wait_briefly(&done, 100);
  }
  let_through(r);
}

/* Of the late thread those alone with which it asks for memory. */
static const int kTrapped[] = {SYS_mmap, SYS_mprotect, SYS_madvise, SYS_readlinkat, SYS_openat};
static int Trap(int calls) { return trap_calls(kTrapped, calls, AtCall); }

static void __attribute__((noinline)) counted(void) { kept = malloc(kBytes); }
static void __attribute__((noinline)) before(int depth) {
  kept = malloc(kBytes);
  if (depth > 0) before(depth - 1);
  kept = NULL;
}
static void __attribute__((noinline)) late(void) { kept = malloc(kLate); }

static void* Late(void* argument) {
  before(10);
  if (!Trap(1)) abort();
  to_be_held = 1;
  late();
  sem_post(&done);
  return argument;
}

static void path(char* to, const char* folder, int session) {
  sprintf(to, "%s/%d.mallow", folder, session);
  if (mkdir(to, 0700) != 0) abort();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  static char first[4096], second[4096];
  path(first, argv[1], 0);
  path(second, argv[1], 1);
  at = atoi(argv[2]);
  pthread_t thread;
  if (mallow_record_start(first) != 0) return 2;
  before(kStacks);
  pthread_create(&thread, NULL, Late, NULL);
  sem_wait(&held);
  if (mallow_record_stop() != 0 || !Trap(sizeof(kTrapped) / sizeof(kTrapped[0]))) return 2;
  starting = 1;
  if (mallow_record_start(second) != 0) return 2;
  const int reached = seen >= at;
  starting = 0;
  if (!reached) sem_post(&go);
  for (int i = 0; i < kCalls; ++i) counted();
  pthread_join(thread, NULL);
  if (mallow_record_stop() != 0) return 2;
  return reached ? 0 : 3;
}
