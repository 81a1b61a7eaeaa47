/* meter PATH ARGV0 ARGUMENTS...: runs the program in the file PATH and writes what it took to descriptor 3, one line:
 *
 *     ended USER SYSTEM WALL PEAK MINOR MAJOR STATUS LEFT PID
 *     failed ERRNO                                          when PATH cannot be executed
 *
 * Times in microseconds; PEAK is the resident set in KiB of the largest process; MINOR and MAJOR are page faults; STATUS
 * is that of wait(2); LEFT is how many processes still ran when the program had ended; PID was that of the program. Counted is the whole tree: of
 * those whose parent ended meter becomes the parent, and those that are left are killed after kGrace.
 *
 * Descriptor 4 is a leash: at its end of file everything is killed.
 *
 * A process inherits the peak of the resident set of the one that it was forked from, and a vforked one that of its
 * parent; so this is a small program, linked statically, and a program of 1 MiB shows as one of 1 MiB. What is
 * preloaded into the program is not preloaded into this. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

enum { kReport = 3, kLeash = 4, kSelf = 5, kGrace = 200 }; /* kSelf: the file of this program; kGrace in ms */

struct taken {
  long long user, system;
  long peak, minor, major;
};

static long long Microseconds(struct timeval time) { return time.tv_sec * 1000000LL + time.tv_usec; }

static long long Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void Add(struct taken* all, const struct rusage* one) {
  all->user += Microseconds(one->ru_utime);
  all->system += Microseconds(one->ru_stime);
  all->minor += one->ru_minflt;
  all->major += one->ru_majflt;
  if (one->ru_maxrss > all->peak) all->peak = one->ru_maxrss;
}

/* Start runs the program in a process group of its own, so that no key on the terminal ends it half. */
static int Start(pid_t* child, char* path, char** arguments) {
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  return posix_spawn(child, path, NULL, &attributes, arguments, environ);
}

/* KillChildren kills every child and returns how many there were; theirs become ours when they are gone. */
static int KillChildren(pid_t group) {
  int killed = 0;
  FILE* children = fopen("/proc/thread-self/children", "re");
  if (children == NULL) {
    kill(-group, SIGKILL);
    return 1;
  }
  for (int child; fscanf(children, "%d", &child) == 1; ++killed) kill(child, SIGKILL);
  fclose(children);
  return killed;
}

int main(int count, char** arguments) {
  for (int descriptor = kReport; descriptor <= kSelf; ++descriptor) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  if (count < 3) {
    fputs("meter: no program named\n", stderr);
    return 2;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  /* A key on the terminal or a supervisor reaches mallow too, which then lets the leash go. */
  sigset_t blocked = ends;
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGQUIT);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGHUP);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  const int news = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);

  const long long start = Now();
  pid_t program;
  const int error = Start(&program, arguments[1], arguments + 2);
  if (error != 0) {
    dprintf(kReport, "failed %d\n", error);
    return 1;
  }

  struct taken all = {0};
  long long wall = 0;
  int status = 0, left = 0;
  bool ended = false, killing = false;
  for (;;) {
    struct rusage usage;
    int how;
    pid_t child;
    while ((child = wait4(-1, &how, WNOHANG, &usage)) > 0) {
      Add(&all, &usage);
      if (child != program) continue;
      ended = true;
      wall = Now() - start;
      status = how;
    }
    if (child < 0 && errno == ECHILD) break;
    if (killing) KillChildren(program);
    struct pollfd events[] = {{news, POLLIN, 0}, {killing ? -1 : kLeash, 0, 0}};
    const int happened = poll(events, 2, ended ? (killing ? 10 : kGrace) : -1);
    for (struct signalfd_siginfo one; read(news, &one, sizeof one) > 0;) {
    }
    if (killing || happened < 0) continue;
    const bool late = ended && Now() - start - wall >= kGrace * 1000;
    if (late || events[1].revents != 0) {
      killing = true;
      left = KillChildren(program) - (ended ? 0 : 1);
    }
  }
  dprintf(kReport, "ended %lld %lld %lld %ld %ld %ld %d %d %d\n", all.user, all.system, wall, all.peak,
          all.minor, all.major, status, left, program);
  return 0;
}
