// Half of the time works, half of it only allocates and releases. Each piece ends at a time of its own: one that ends late
// takes from the next, not from the balance.
#include <stdlib.h>

#include "burn.h"

static void *volatile kept;

__attribute__((noinline)) static void work(uint64_t end) { burn_until(end); }

__attribute__((noinline)) static void churn(uint64_t end) {
  while (cpu_milliseconds() < end) {
    for (int i = 0; i < 500; i++) {
      kept = malloc((size_t)(16 + i));
      free(kept);
    }
  }
}

int main(void) {
  uint64_t end = cpu_milliseconds();
  for (int i = 0; i < 30; i++) {
    work(end += 20);
    churn(end += 20);
  }
  return 0;
}
