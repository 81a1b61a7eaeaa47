// Calls malloc on 3,000 call stacks, then in each of 8 vfork children on a stack of its own.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile block;
static volatile int depth;

__attribute__((noinline)) static void take(void) {
  block = malloc(40);
  free(block);
}

// Takes at the end, or on the way as well.
__attribute__((noinline)) static void descend(int to, int everywhere) {
  if (to == 0 || everywhere) take();
  if (to != 0) descend(to - 1, everywhere);
  depth = to;
}

int main(void) {
  enum { kStacks = 3000, kChildren = 8 };
  descend(kStacks - 1, 1);
  for (int i = 0; i < kChildren; i++) {
    const pid_t child = vfork();
    if (child == 0) {
      descend(kStacks + i, 0);
      _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  return 0;
}
