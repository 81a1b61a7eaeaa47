// Children that share or soon leave our memory: vfork, posix_spawn, clone with and without CLONE_VM, from a process
// with threads that allocate.
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "check.h"

extern char** environ;
enum { kRounds = 20 };
static volatile int stop;

static void* Allocate(void* unused) {
  while (!stop) {
    void* p = malloc(100);
    HIDE(p);
    free(p);
  }
  return unused;
}

static void WaitFor(pid_t child) {
  int status;
  CHECK(child > 0 && waitpid(child, &status, __WALL) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == 0);
}

static int AllocateInChild(void* unused) {
  (void)unused;
  for (int i = 0; i < 100; ++i) {
    void* p = malloc(i * 10);
    HIDE(p);
    free(p);
  }
  return 0;
}

int main(void) {
  static char stack[256 * 1024] __attribute__((aligned(16)));
  char* const command[] = {"true", NULL};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, Allocate, NULL) == 0);
  for (int i = 0; i < kRounds; ++i) {
    pid_t child = vfork();
    if (child == 0) {
      execve("/bin/true", command, environ);
      _exit(1);
    }
    WaitFor(child);
    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, command, environ) == 0);
    WaitFor(child);
    WaitFor(clone(AllocateInChild, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
  }
  stop = 1;
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  // A raw clone runs no fork handlers: promised with one thread only.
  for (int i = 0; i < kRounds; ++i) {
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
      AllocateInChild(NULL);
      _exit(0);
    }
    WaitFor(child);
  }
  return 0;
}
