/* Forks in a signal handler that interrupts the counting of a unit at one of its instructions: at every second one of
 * mallow_unit(), then at each of the first of a function that mallow counts itself. In the handler the child allocates, so
 * that it has a recording of its own by then; it goes on in what was interrupted, counts a unit called "child", and ends.
 * Prints how often it has forked, and how often the parent has counted "own" and called counted(). */
#define _GNU_SOURCE
#include <mallow/mallow.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { kTrapFlag = 0x100, kBytes = 100, kOfFunction = 25 };

static int left, forks, is_child, owns, counts, bad;
static void* volatile kept;

static void Allocate(void) {
  kept = malloc(kBytes);
  free(kept);
}

static void OnTrap(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  if (--left > 0) return;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  if (left < 0) return;
  ++forks;
  const pid_t child = fork();
  is_child = child == 0;
  if (is_child) {
    Allocate();
  } else {
    int status = -1;
    waitpid(child, &status, 0);
    bad |= status;
  }
}

static void SetTrapFlag(void) {
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n leaq 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

static void Own(void) {
  ++owns;
  SetTrapFlag();
  mallow_unit("own", 1);
}

int __attribute__((noinline)) counted(int value) {
  __asm__ volatile("leal 1(%0), %0\n leal 2(%0), %0\n leal 3(%0), %0" : "+r"(value));
  return value;
}
static void Function(void) {
  ++counts;
  SetTrapFlag();
  kept = (void*)(long)counted(counts);
}

/* False: the code has fewer instructions. */
static int ForkAt(int instruction, void (*code)(void)) {
  const int before = forks;
  left = instruction;
  code();
  left = 0;
  __asm__ volatile("nop"); /* the trap flag goes */
  if (is_child) {
    mallow_unit("child", 1);
    _exit(0);
  }
  return forks > before;
}

int main(void) {
  const struct sigaction action = {.sa_sigaction = OnTrap, .sa_flags = SA_SIGINFO};
  if (sigaction(SIGTRAP, &action, NULL) != 0) return 2;
  Allocate();
  mallow_unit("own", 1), ++owns;
  for (int at = 1; ForkAt(at, Own) && at < 1000; at += 2) continue;
  for (int at = 1; at <= kOfFunction; ++at) ForkAt(at, Function);
  printf("%d %d %d\n", forks, owns, counts);
  return bad;
}
