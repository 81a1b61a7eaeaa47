// launch PROGRAM ARGUMENTS...: runs the program and writes what it took, in one line, to the descriptor 3:
//
//     user system wall peak-rss minor-faults major-faults status
//
// times in microseconds, of the program and of its children that it waited for; peak resident set in KiB, of the
// largest of them; status as the shell has it, 128 and more for a signal.
//
// A process inherits the peak resident set of the one that it was forked from, and a vforked one until its exec that of
// its parent; so this is a small program, linked statically, and a program of 1 MiB shows as one of 1 MiB.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static const int kReport = 3;

static long long Microseconds(struct timeval time) { return time.tv_sec * 1000000LL + time.tv_usec; }

static long long Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int main(int count, char** arguments) {
  if (count < 2) {
    fputs("launch: no program named: launch PROGRAM ARGUMENTS..., with the report on descriptor 3\n", stderr);
    return 2;
  }
  if (fcntl(kReport, F_SETFD, FD_CLOEXEC) != 0) {
    fputs("launch: descriptor 3, which takes the report, is not open\n", stderr);
    return 2;
  }
  const long long start = Now();
  pid_t child;
  const int error = posix_spawnp(&child, arguments[1], NULL, NULL, arguments + 1, environ);
  if (error != 0) {
    fprintf(stderr, "launch: cannot run %s: %s\n", arguments[1], strerror(error));
    return 127;
  }
  int status;
  struct rusage usage;
  while (wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR) return 2;
  const long long wall = Now() - start;
  dprintf(kReport, "%lld %lld %lld %ld %ld %ld %d\n", Microseconds(usage.ru_utime),
          Microseconds(usage.ru_stime), wall, usage.ru_maxrss, usage.ru_minflt, usage.ru_majflt,
          WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  return 0;
}
