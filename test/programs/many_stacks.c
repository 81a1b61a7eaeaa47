// Calls malloc once on each of 2^DEPTH call stacks: many_stacks DEPTH. Half of the ways end in left, half in right.
#include <stdlib.h>

static void *volatile block;
static volatile int depth;

__attribute__((noinline)) static void take(int bytes) {
  block = malloc((size_t)bytes);
  free(block);
}

__attribute__((noinline)) static void left(int to);

__attribute__((noinline)) static void right(int to) {
  if (to == 0) {
    take(40);
  } else {
    left(to - 1);
    right(to - 1);
  }
  depth = to;
}

__attribute__((noinline)) static void left(int to) {
  if (to == 0) {
    take(24);
  } else {
    left(to - 1);
    right(to - 1);
  }
  depth = to;
}

int main(int count, char **values) {
  left(count == 2 ? atoi(values[1]) : 0);
  return 0;
}
