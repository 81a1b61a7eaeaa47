// A chain of forks eight deep, each with allocations of its own and on stacks that its ancestors made.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void allocate(int blocks) {
  for (int i = 0; i < blocks; i++) free(malloc(16));
}

__attribute__((noinline)) static int descend(int depth) {
  allocate(100);
  if (depth == 0) return 0;
  pid_t child = fork();
  if (child == 0) _exit(descend(depth - 1));
  int status;
  if (waitpid(child, &status, 0) != child) return 1;
  allocate(10);
  return WEXITSTATUS(status);
}

int main(void) { return descend(7); }
