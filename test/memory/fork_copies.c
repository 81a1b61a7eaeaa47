// fork_copies MOST: a process of one thread forks, and the handlers of fork may make the child copy at most MOST pages more than
// a fork without handlers does, libc's own included. Neither process allocates meanwhile.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRounds = 5 };

static long *copied;  // shared

static long Faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static pid_t ForkWithoutHandlers(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

// The least of a few: what the first child and its parent have copied they need not again.
static long Least(pid_t (*fork_by)(void)) {
  long least = 1000;
  for (int round = 0; round < kRounds; ++round) {
    *copied = -1;
    const pid_t child = fork_by();
    if (child == 0) {
      *copied = Faults();
      _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || *copied < 0) {
      printf("no child\n");
      exit(2);
    }
    if (*copied < least) least = *copied;
  }
  return least;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  copied = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (size_t bytes = 16; bytes < 1 << 20; bytes *= 2) free(malloc(bytes));
  const long without = Least(ForkWithoutHandlers);
  const long with = Least(fork);
  const long most = atol(argv[1]);
  printf("%ld pages without handlers, %ld with them\n", without, with);
  return with - without <= most ? 0 : 1;
}
