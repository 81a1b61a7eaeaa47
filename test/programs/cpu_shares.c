// 900 ms in heavy, 300 ms in light, a little at a time; light is reached by a recursion of 40 calls. Each piece ends at a
// time of its own: one that ends late takes from the next, not from the balance. No two are of one length, or a machine
// that gives each program the same turn would sample each piece at the same place.
#include <stdlib.h>

#include "burn.h"

__attribute__((noinline)) static void heavy(uint64_t end) { burn_until(end); }

__attribute__((noinline)) static void light(int depth, uint64_t end) {
  if (depth > 0)
    light(depth - 1, end);
  else
    burn_until(end);
}

int main(void) {
  void *block = malloc(10);
  uint64_t end = cpu_milliseconds();
  static const int tenths[] = {7, 13, 8, 11, 12, 9, 14, 6, 10, 10};
  for (int i = 0; i < 10; i++) {
    heavy(end += 9 * tenths[i]);
    light(40, end += 3 * tenths[i]);
  }
  free(block);
  return 0;
}
