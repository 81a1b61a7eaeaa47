// The same work over and over: 64 call paths, blocks of eight sizes, some kept for a while, some moved by realloc.
//
//   long ROUNDS          of 256 allocations each
#include <stdlib.h>

enum { kKept = 100 };

static void *kept[kKept];
static unsigned turn;

__attribute__((noinline)) static void work(void) {
  void **block = &kept[turn++ % kKept];
  free(*block);
  *block = malloc(16u << turn % 8);
  if (turn % 4 == 0) *block = realloc(*block, 100);
}

static void one(unsigned path, int depth);
static void other(unsigned path, int depth);

static void descend(unsigned path, int depth) {
  if (depth == 0)
    work();
  else if (path & 1)
    one(path >> 1, depth - 1);
  else
    other(path >> 1, depth - 1);
}

__attribute__((noinline)) static void one(unsigned path, int depth) {
  descend(path, depth);
  __asm__ volatile("");
}

__attribute__((noinline)) static void other(unsigned path, int depth) {
  descend(path, depth);
  __asm__ volatile("" ::: "memory");
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  const int rounds = atoi(arguments[1]);
  for (int round = 0; round < rounds; round++) {
    for (unsigned path = 0; path < 256; path++) descend(path % 64, 6);
  }
  for (int i = 0; i < kKept; i++) free(kept[i]);
  return 0;
}
