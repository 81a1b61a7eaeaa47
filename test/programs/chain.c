// Executes itself three times; each of the four images makes 500 allocations and frees 499.
// argument 1: how many times still (default 3).
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile leaked;

__attribute__((noinline)) static void allocate(void) {
  for (int i = 0; i < 499; i++) free(malloc(100));
  leaked = malloc(100);
}

int main(int count, char **arguments) {
  int times = count > 1 ? atoi(arguments[1]) : 3;
  allocate();
  if (times == 0) return 7;
  char next[16];
  snprintf(next, sizeof next, "%d", times - 1);
  execl("/proc/self/exe", arguments[0], next, (char *)NULL);
  return 1;
}
