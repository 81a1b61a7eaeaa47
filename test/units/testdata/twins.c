// Two functions of which the compiler makes one, whose name is all that is left where it optimizes further.
#include <stdio.h>
#include <stdlib.h>

static void* volatile sink;

static __attribute__((noinline)) int first_twin(int a, int b) {
  sink = malloc(a + b);
  free(sink);
  return a * b;
}

static __attribute__((noinline)) int second_twin(int a, int b) {
  sink = malloc(a + b);
  free(sink);
  return a * b;
}

int main(int count, char** arguments) {
  int sum = 0;
  for (int i = 0; i < 10 * count; i++) sum += first_twin(i, 3) + second_twin(i, 7);
  puts("done");
  return sum == 0 || arguments[0] == NULL;
}
