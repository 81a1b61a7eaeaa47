// fork_child_continues: the child of a fork made in a signal handler that interrupted the allocator leaves the handler
// and goes on with the interrupted call.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "check.h"

enum { kForks = 100 };
static volatile int forked, is_child;
// Once, so that a slow handler does not run into itself.
static const struct itimerval soon = {{0, 0}, {0, 2500}};

static void Fork(int signal) {
  (void)signal;
  const pid_t child = fork();
  if (child == 0) {
    is_child = 1;
    return;
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(2);
  forked = forked + 1;
  if (forked < kForks) setitimer(ITIMER_REAL, &soon, NULL);
}

static void Churn(void) {
  static void* blocks[256];
  static unsigned random = 1;
  random = random * 1664525 + 1013904223;
  void** block = &blocks[random >> 24];
  free(*block);
  *block = malloc((size_t)1 << (4 + (random >> 8) % 16));
  CHECK(*block != NULL);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = Fork;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  while (forked < kForks && !is_child) Churn();
  if (is_child) {
    for (int i = 0; i < 2000; ++i) Churn();
    _exit(0);
  }
  return 0;
}
