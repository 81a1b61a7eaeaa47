// Half of the time works, half of it only allocates and releases. Each piece ends at a time of its own: one that ends late
// takes from the next, not from the balance. They are of different lengths, or a machine that gives each program the same
// turn would sample them always at the same places.
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
  static const int lengths[] = {13, 27, 17, 23, 25, 15, 29, 11, 21, 19};
  for (int i = 0; i < 30; i++) {
    work(end += lengths[i % 10]);
    churn(end += lengths[i % 10]);
  }
  return 0;
}
