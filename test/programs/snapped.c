/* Records while a snapshot of the recording is being written: snapped FOLDER
 *
 * Records itself into FOLDER/0.mallow and makes 100 blocks in counted(), then a snapshot into FOLDER/1.mallow. At each system
 * call that writes it, 70 blocks come from new stacks, in regions that are new, and a unit is counted that is new. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mallow/mallow.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>

__typeof__(mallow_record_start) mallow_record_start __attribute__((weak));
__typeof__(mallow_record_stop) mallow_record_stop __attribute__((weak));
__typeof__(mallow_record_snapshot) mallow_record_snapshot __attribute__((weak));

enum { kBytes = 100, kCalls = 100, kStacks = 70 };

static int writes;
static void* volatile kept;

/* Calls the system; of a call from here nothing is trapped. */
long Allowed(long a, long b, long c, long d, long e, long f, long number);
extern char AllowedReturn[];
__asm__(
    ".globl Allowed, AllowedReturn\n"
    "Allowed:\n"
    "  movq %rcx, %r10\n"
    "  movq 8(%rsp), %rax\n"
    "  syscall\n"
    "AllowedReturn:\n"
    "  ret\n");

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
  greg_t* const r = ((ucontext_t*)context)->uc_mcontext.gregs;
  r[REG_RAX] = Allowed(r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9], r[REG_RAX]);
}

static int StopAtWrites(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(uintptr_t)AllowedReturn, 4, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  const struct sigaction action = {.sa_sigaction = AtWrite, .sa_flags = SA_SIGINFO};
  return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
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
