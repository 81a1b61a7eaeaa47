// Half of the time works, half of it only allocates and releases.
#include <stdlib.h>

#include "burn.h"

static void *volatile kept;

__attribute__((noinline)) static void work(void) { burn(20); }

__attribute__((noinline)) static void churn(void) {
  const uint64_t end = cpu_milliseconds() + 20;
  while (cpu_milliseconds() < end) {
    for (int i = 0; i < 500; i++) {
      kept = malloc((size_t)(16 + i));
      free(kept);
    }
  }
}

int main(void) {
  for (int i = 0; i < 30; i++) {
    work();
    churn();
  }
  return 0;
}
