// fork_in_signal FORKS: a signal handler that interrupted malloc, free or realloc forks. The child and the parent go
// on to allocate. glibc promises that fork is usable there, though malloc in the handler itself is not.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "check.h"

static volatile int forked, wanted;

// Once, so that a slow handler does not run into itself.
static const struct itimerval soon = {{0, 0}, {0, 2500}};

static void Fork(int signal) {
  (void)signal;
  const int saved = errno;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(2);
  forked = forked + 1;
  if (forked < wanted) setitimer(ITIMER_REAL, &soon, NULL);
  errno = saved;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  wanted = atoi(argv[1]);
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = Fork;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  static void* blocks[256];
  unsigned random = 1;
  while (forked < wanted) {
    random = random * 1664525 + 1013904223;
    void** block = &blocks[random >> 24];
    const size_t bytes = (size_t)1 << (4 + (random >> 8) % 16);
    if (random & 64) {
      free(*block);
      *block = malloc(bytes);
    } else {
      *block = realloc(*block, bytes);
    }
    CHECK(*block != NULL);
  }
  return 0;
}
