// 64 allocations 100,000 calls deep.
#include <stdlib.h>

__attribute__((noinline)) static int descend(int depth) {
  if (depth == 0) {
    for (int i = 0; i < 64; i++) free(malloc(32));
    return 1;
  }
  int below = descend(depth - 1);
  __asm__ volatile("");  // not a loop
  return below + 1;
}

int main(void) { return descend(100000) == 100001 ? 0 : 1; }
