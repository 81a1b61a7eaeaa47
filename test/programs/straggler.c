/* A thread that is held up in what it does in one session until another one is under way: straggler FOLDER AT
 *
 * It begins regions, counts units and makes stacks that are new each time, and is held up at system call AT of those with
 * which it asks for the mask of its signals: before it takes a lock of the recorder, behind it, and where the recorder looks
 * at code that it has not seen before. It goes on when the next session has regions and stacks of its own, ends the one thing
 * that it was in, and does no more. The second session is of 50 blocks from counted() in each of 20 regions, "counted 0" and
 * so on, and 20 units called "counted"; of the thread it may have the one unit. How many such system calls there were is the
 * program's output. */
#define _GNU_SOURCE
#include <mallow/mallow.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trapped_calls.h"

__typeof__(mallow_record_start) mallow_record_start __attribute__((weak));
__typeof__(mallow_record_stop) mallow_record_stop __attribute__((weak));

enum {
  kBytes = 100,
  kRegions = 20,
  kCalls = 50,
  kRounds = 2,
  kPasses = 700,
  kPatience = 300,
  kStacks = 300,
  kOuter = 30
};

static int at;
static volatile int heeded, seen, held, go, done;
static void* volatile kept;

/* Not for ever: what begins the next session may wait for a lock that this thread holds. */
static void BeHeld(void) {
  const struct timespec pause = {0, 1000000};
  held = 1;
  for (int i = 0; i < kPatience && !go; ++i) untrapped((long)&pause, 0, 0, 0, 0, 0, SYS_nanosleep);
}

static void AtCall(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  greg_t* const r = ((ucontext_t*)context)->uc_mcontext.gregs;
  if (heeded && ++seen == at) BeHeld();
  /* What changes the mask changes that of the code that was interrupted. */
  const int how = (int)r[REG_RDI];
  uint64_t* const mask = (uint64_t*)&((ucontext_t*)context)->uc_sigmask;
  const uint64_t *to = (const uint64_t*)r[REG_RSI], before = *mask;
  if ((how == SIG_BLOCK || how == SIG_SETMASK) && to != NULL) {
    const uint64_t kSigsys = UINT64_C(1) << (SIGSYS - 1);
    *mask = (how == SIG_BLOCK ? before | *to : *to) & ~kSigsys;
    if (r[REG_RDX] != 0) *(uint64_t*)r[REG_RDX] = before;
    r[REG_RAX] = 0;
    return;
  }
  let_through(r);
}

static void __attribute__((noinline)) counted(void) { kept = malloc(kBytes); }
static void __attribute__((noinline)) late(int depth) {
  if (depth > 0) late(depth - 1);
  if (depth == 0) kept = malloc(kBytes);
}
/* What libc allocates has stacks of another kind. */
static void __attribute__((noinline)) opened(int depth) {
  fclose(fopen("/dev/null", "r"));
  if (depth > 0) opened(depth - 1);
  kept = NULL;
}
static int __attribute__((noinline)) LateToo(const void* a, const void* b) {
  (void)a, (void)b;
  kept = malloc(kBytes);
  return 0;
}

static void Round(int i) {
  char name[20];
  int items[2] = {0, 0};
  sprintf(name, "late %d", i);
  mallow_region_begin(name);
  if (!held) mallow_unit(name, 1);
  if (!held) late(i + 1);
  if (!held) qsort(items, 2, sizeof(int), LateToo);
  for (int pass = 0; pass < kPasses && !held; ++pass) late(0);
  if (!held) mallow_region_end();
}

static void __attribute__((noinline)) Rounds(void) {
  char name[20];
  static const int kAsksForSignals = SYS_rt_sigprocmask;
  if (!trap_calls(&kAsksForSignals, 1, AtCall)) abort();
  heeded = 1;
  Round(0);
  heeded = 0;
  for (int i = 0; i < kOuter && !held; ++i) {
    sprintf(name, "outer %d", i);
    mallow_region_begin(name);
  }
  heeded = 1;
  for (int i = 1; i < kRounds && !held; ++i) Round(i);
}

/* Stacks go on from far behind the first ones. */
static void __attribute__((noinline)) AtDepth(int depth) {
  kept = malloc(kBytes);
  if (depth > 0) AtDepth(depth - 1);
  if (depth == 0) Rounds();
  kept = NULL;
}

static void* Late(void* argument) {
  AtDepth(kStacks);
  done = 1;
  return argument;
}

static void path(char* to, const char* folder, int session) {
  sprintf(to, "%s/%d.mallow", folder, session);
  if (mkdir(to, 0700) != 0) abort();
}

static void Wait(const volatile int* one, const volatile int* other) {
  while (!*one && !*other) usleep(500);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  static char first[4096], second[4096];
  char name[20];
  path(first, argv[1], 0);
  path(second, argv[1], 1);
  at = atoi(argv[2]);
  pthread_t thread;
  if (mallow_record_start(first) != 0) return 2;
  pthread_create(&thread, NULL, Late, NULL);
  Wait(&held, &done);
  if (mallow_record_stop() != 0 || mallow_record_start(second) != 0) return 2;
  opened(kStacks);
  for (int region = 0; region < kRegions; ++region) {
    sprintf(name, "counted %d", region);
    mallow_region_begin(name);
    mallow_unit("counted", 1);
    for (int i = 0; i < kCalls; ++i) counted();
    mallow_region_end();
  }
  go = 1;
  pthread_join(thread, NULL);
  if (mallow_record_stop() != 0) return 2;
  return printf("%d\n", seen) < 0;
}
