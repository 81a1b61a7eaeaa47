/* A thread that is held up in a malloc of one session until another one is just beginning: latecomer FOLDER AT
 *
 * The first session, of which there are many stacks, is ended while the late thread waits for memory of the system. It goes
 * on at system call AT of those that begin the second one, for as long as it can without the first thread. The second session
 * is of 50 blocks from counted(), and perhaps the one from late(). Exits with 3 where there is no such system call. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mallow/mallow.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "wait_briefly.h"

__typeof__(mallow_record_start) mallow_record_start __attribute__((weak));
__typeof__(mallow_record_stop) mallow_record_stop __attribute__((weak));

enum { kBytes = 100, kCalls = 50, kLate = 64 << 20, kStacks = 300 };

static sem_t held, go, done;
static volatile int at, seen, starting;
static __thread volatile int to_be_held;
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
  r[REG_RAX] = Allowed(r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9], r[REG_RAX]);
}

/* In the calling thread: some calls, or of the late thread those alone with which it asks for memory. */
static int Trap(int late) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(uintptr_t)AllowedReturn, 7, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, late ? SYS_mmap : SYS_mprotect, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, late ? SYS_mmap : SYS_madvise, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, late ? SYS_mmap : SYS_readlinkat, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, late ? SYS_mmap : SYS_openat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

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
  const struct sigaction action = {.sa_sigaction = AtCall, .sa_flags = SA_SIGINFO};
  if (sigaction(SIGSYS, &action, NULL) != 0 || mallow_record_start(first) != 0) return 2;
  before(kStacks);
  pthread_create(&thread, NULL, Late, NULL);
  sem_wait(&held);
  if (mallow_record_stop() != 0 || !Trap(0)) return 2;
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
