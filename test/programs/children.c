// 20 fork children of 1000 allocations each, of which each frees 900, and 500 in the parent before and after.
// Each child also frees one block that it inherited, some of them before anything else.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile leaked;

__attribute__((noinline)) static void in_parent(void) {
  for (int i = 0; i < 500; i++) free(malloc(20));
}

__attribute__((noinline)) static void in_child(void) {
  for (int i = 0; i < 1000; i++) {
    void *block = malloc(40);
    if (i % 10 == 0)
      leaked = block;
    else
      free(block);
  }
}

int main(void) {
  in_parent();
  void *inherited = malloc(60);
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      if (i % 4 < 2) free(inherited);
      in_child();
      if (i % 4 >= 2) free(inherited);
      _exit(i % 2);
    }
    int status;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != i % 2) return 1;
  }
  in_parent();
  free(inherited);
  return 0;
}
