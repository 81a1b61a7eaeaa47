/* Blocks of 100,000 bytes, each of which lives while a small one is resized often: resized
 *
 * 100 times lived() makes one and resizes a block of at most 16 bytes 20 times, which is more than a short life takes, before
 * both are released. */
#include <stdlib.h>

enum { kTimes = 100, kBytes = 100000, kSmall = 8, kResized = 20 };

static void* volatile kept;

static void __attribute__((noinline)) lived(void) {
  void* const p = malloc(kBytes);
  kept = malloc(kSmall);
  for (int i = 1; i <= kResized; ++i) kept = realloc(kept, (size_t)(1 + i % 2) * kSmall);
  free(kept);
  free(p);
}

int main(void) {
  for (int i = 0; i < kTimes; ++i) lived();
  return 0;
}
