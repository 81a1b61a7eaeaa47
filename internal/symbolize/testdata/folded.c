#include <stdlib.h>

/* Two functions of equal code, of which linkers make one. */
__attribute__((noinline)) char *first(int n) {
  char *p = malloc(n + 10);
  if (p) p[0] = n;
  return p;
}

__attribute__((noinline)) int between(int x) { return x * 3 + 1; }

__attribute__((noinline)) char *second(int n) {
  char *p = malloc(n + 10);
  if (p) p[0] = n;
  return p;
}

char *(*volatile both[2])(int) = {first, second};

int main(void) { return both[0](1)[0] + both[1](between(2))[0]; }
