// Starts itself by vfork + exec, posix_spawn, system() and popen(); every child makes 100 allocations.
// A vfork child that allocates before its exec counts in the parent.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) static void allocate(int blocks) {
  for (int i = 0; i < blocks; i++) free(malloc(72));
}

static void await(pid_t child) {
  int status;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5) abort();
}

int main(int count, char **arguments) {
  if (count > 1) {
    allocate(100);
    return 5;
  }
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return 1;
  self[length] = '\0';
  char *child_arguments[] = {arguments[0], (char *)"child", NULL};

  pid_t child = vfork();
  if (child == 0) {
    allocate(10);
    execv(self, child_arguments);
    _exit(127);
  }
  await(child);

  if (posix_spawn(&child, self, NULL, NULL, child_arguments, environ) != 0) return 1;
  await(child);

  char command[4200];
  snprintf(command, sizeof command, "exec '%s' child", self);
  if (WEXITSTATUS(system(command)) != 5) return 1;
  FILE *pipe = popen(command, "r");
  if (!pipe || WEXITSTATUS(pclose(pipe)) != 5) return 1;
  return 0;
}
