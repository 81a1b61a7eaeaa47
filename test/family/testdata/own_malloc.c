// Brings a malloc of its own.
#include <stddef.h>
#include <string.h>

static _Alignas(16) char arena[1 << 20];
static size_t used;

void *malloc(size_t bytes) {
  void *block = arena + used;
  used += (bytes + 15) & ~(size_t)15;
  return used <= sizeof arena ? block : NULL;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *block, size_t bytes) {
  void *moved = malloc(bytes);
  return block == NULL ? moved : memcpy(moved, block, bytes);
}

int main(void) {
  free(malloc(10));
  return 0;
}
