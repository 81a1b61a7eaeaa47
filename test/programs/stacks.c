// One line that allocates, reached on four ways: which caller made how many. Also through an inlined
// function, through a function pointer, and from a callback that libc calls.
#include <stdlib.h>

static void *volatile last;

__attribute__((noinline)) static void allocate(void) {
  last = malloc(8);  // the site
  free(last);
}

__attribute__((noinline)) static void by_first(void) {
  for (int i = 0; i < 100; i++) allocate();
}

__attribute__((noinline)) static void by_second(void) {
  for (int i = 0; i < 12; i++) allocate();
}

static inline __attribute__((always_inline)) void inlined(void) {
  for (int i = 0; i < 30; i++) allocate();
}

__attribute__((noinline)) static void by_inlined(void) { inlined(); }

static int compare(const void *left, const void *right) {
  allocate();
  return *(const int *)left - *(const int *)right;
}

__attribute__((noinline)) static void by_callback(void) {
  int numbers[2] = {2, 1};
  qsort(numbers, 2, sizeof numbers[0], compare);
}

int main(void) {
  by_first();
  by_second();
  by_inlined();
  by_callback();
  return 0;
}
