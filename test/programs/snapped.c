/* Records while a snapshot of the recording is being written: snapped FOLDER
 *
 * Records itself into FOLDER/0.mallow and makes 100 blocks in counted(), then a snapshot into FOLDER/1.mallow. At each system
 * call that writes it, 70 blocks come from new stacks, in regions that are new, and a unit is counted that is new. */
#define _GNU_SOURCE
#include <mallow/mallow.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "trapped_calls.h"

__typeof__(mallow_record_start) mallow_record_start __attribute__((weak));
__typeof__(mallow_record_stop) mallow_record_stop __attribute__((weak));
__typeof__(mallow_record_snapshot) mallow_record_snapshot __attribute__((weak));

enum { kBytes = 100, kCalls = 100, kStacks = 70 };

static int writes;
static void* volatile kept;

static void __attribute__((noinline)) counted(void) { kept = malloc(kBytes); }
static void __attribute__((noinline)) meanwhile(int depth) {
  kept = malloc(kBytes);
  if (depth > 0) meanwhile(depth - 1);
  kept = NULL;
}

static void AtWrite(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  char name[20];
  sprintf(name, "write %d", ++writes);
  mallow_region_begin(name);
  meanwhile(kStacks - 1);
  mallow_unit(name, 1);
  mallow_region_end();
  let_through(((ucontext_t*)context)->uc_mcontext.gregs);
}

static int StopAtWrites(void) {
  static const int kWrites[] = {SYS_write, SYS_pwrite64};
  return trap_calls(kWrites, 2, AtWrite);
}

static void path(char* to, const char* folder, int number) {
  sprintf(to, "%s/%d.mallow", folder, number);
  if (mkdir(to, 0700) != 0) abort();
}

int main(int argc, char** argv) {
  static char whole[4096], snapshot[4096];
  if (argc != 2) return 2;
  path(whole, argv[1], 0);
  path(snapshot, argv[1], 1);
  if (mallow_record_start(whole) != 0) return 2;
  for (int i = 0; i < kCalls; ++i) counted();
  if (!StopAtWrites() || mallow_record_snapshot(snapshot) != 0 || mallow_record_stop() != 0) return 2;
  return writes >= 10 ? 0 : 3;
}
