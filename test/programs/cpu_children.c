// 200 ms in the parent, 400 ms in a fork child, 200 ms in what a second child executes. A third child allocates nothing,
// and must leave the figures of its parent alone.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

static void *volatile kept;

__attribute__((noinline)) static void in_parent(void) { burn(200); }
__attribute__((noinline)) static void in_child(void) { burn(400); }
// Not in one piece, or it would be the same function as in_parent.
__attribute__((noinline)) static void after_exec(void) {
  burn(100);
  burn(100);
}

// A timer of its own has the number that its parent's first one has.
static int silent_child(void) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_NONE};
  struct itimerspec left, when = {{0, 0}, {1000, 0}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &when, NULL) != 0)
    return 1;
  return timer_gettime(timer, &left) == 0 && left.it_value.tv_sec > 900 ? 0 : 1;
}

static int wait_for(pid_t child) {
  int status;
  return waitpid(child, &status, 0) == child ? status : 1;
}

int main(int count, char **arguments) {
  kept = malloc(10);
  if (count > 1) {
    after_exec();
    return 0;
  }
  in_parent();
  pid_t child = fork();
  if (child == 0) {
    kept = malloc(20);
    in_child();
    _exit(0);
  }
  int failed = wait_for(child);
  child = fork();
  if (child == 0) {
    execl(arguments[0], arguments[0], "again", NULL);
    _exit(1);
  }
  failed |= wait_for(child);
  child = fork();
  if (child == 0) exit(silent_child());
  return failed | wait_for(child);
}
