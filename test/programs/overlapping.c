/* Samples of one thread while another one is just making the side records of their span, as hardly ever happens: overlapping
 *
 * Whenever the first thread, in its mallocs, is about to ask the system to make memory writable, hasty() of the second one
 * frees some new blocks of the same size at once, and keeps as many, for as long as it can without the first one. Each size is
 * a new one, and lies far from those before: records are made where there were none. How often hasty() was called is the
 * program's output. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "wait_briefly.h"

/* A call with this as its fourth argument, of which there are three, is let through. */
enum { kAllowed = 0x616c6c77 };
enum { kStep = 16, kSizes = 40, kLarge = 300000, kLarges = 14, kEachTime = 3 };

static volatile size_t bytes;
static void* volatile kept;

static sem_t start, done;
static volatile int ended;
static int calls; /* of hasty */

static void __attribute__((noinline)) hasty(void) {
  for (int i = 0; i < kEachTime; ++i) {
    free(malloc(bytes));
    kept = malloc(bytes);
  }
}

static void* Second(void* argument) {
  for (sem_wait(&start); !ended; sem_wait(&start)) {
    hasty();
    ++calls;
    sem_post(&done);
  }
  return argument;
}

static void AtProtect(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  sem_post(&start);
  wait_briefly(&done, 200);
  greg_t* const registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  registers[REG_RAX] =
      syscall(SYS_mprotect, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], kAllowed);
}

static int StopAtProtect(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kAllowed, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  const struct sigaction action = {.sa_sigaction = AtProtect, .sa_flags = SA_SIGINFO};
  return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void) {
  pthread_t second;
  if (sem_init(&start, 0, 0) != 0 || sem_init(&done, 0, 0) != 0 ||
      pthread_create(&second, NULL, Second, NULL) != 0 || !StopAtProtect())
    return 2;
  for (int i = 0; i < kSizes; ++i) {
    for (int large = 0; large < kLarges; ++large) kept = malloc(kLarge);
    bytes = kStep * (i + 1);
    kept = malloc(bytes);
  }
  ended = 1;
  sem_post(&start);
  pthread_join(second, NULL);
  return printf("%d\n", calls) < 0;
}
