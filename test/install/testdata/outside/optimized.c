// Whose are malloc and free, where the linker optimizes? It is told nothing of a call that the compiler knows.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  (void)arguments;
  void *aligned = NULL;
  if (posix_memalign(&aligned, 64, (size_t)count * 100) != 0) return 1;
  free(aligned);
  void *block = malloc((size_t)count * 100);
  puts(malloc_usable_size(block) != 0 ? "mallow" : "not mallow");
  free(block);
  return 0;
}
