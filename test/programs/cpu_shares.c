// 900 ms in heavy, 300 ms in light, a little at a time; light is reached by a recursion of 40 calls.
#include <stdlib.h>

#include "burn.h"

__attribute__((noinline)) static void heavy(void) { burn(90); }

__attribute__((noinline)) static void light(int depth) {
  if (depth > 0)
    light(depth - 1);
  else
    burn(30);
}

int main(void) {
  void *block = malloc(10);
  for (int i = 0; i < 10; i++) {
    heavy();
    light(40);
  }
  free(block);
  return 0;
}
