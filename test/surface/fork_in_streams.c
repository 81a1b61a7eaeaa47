// fork_in_streams: a signal handler forks that interrupted the thread where libc holds its list of all streams, as it does
// to open, close and flush them; after each single instruction of that. A process of one thread can fork there.
#include <signal.h>
#include <sys/wait.h>

#include "check.h"

static volatile int forked, forks;

static void Fork(int signal) {
  (void)signal;
  if (!forks) return;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(2);
  forked = forked + 1;
}

// The trap flag of the processor: SIGTRAP after each instruction.
static void StepFromNowOn(int on) {
  if (on)
    __asm__ volatile(
        "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
            : "memory", "cc");
  else
    __asm__ volatile(
        "lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
            : "memory", "cc");
}

void _IO_list_lock(void);
void _IO_list_unlock(void);

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = Fork;
  CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
  for (int round = 0; round < 2; ++round) {
    // Once without forks: what is bound lazily is bound.
    forks = round;
    StepFromNowOn(1);
    _IO_list_lock();
    _IO_list_unlock();
    StepFromNowOn(0);
  }
  CHECK(forked > 4);
  return 0;
}
