/* Allocates so much and no more for each byte that it reads: 'r' a round, 'c' a child that makes a round of its own for
 * each further byte and ends at 'e', 'f' the release of all that was kept, 'e' the end. After each it writes a '.'.
 *
 * A round: 1,000 blocks of 16 bytes in often(), freed at once; 10 of 100 bytes in keep(), kept. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMost = 100000 };
static void* kept[kMost];
static int count;

static void __attribute__((noinline)) often(void) {
  for (int i = 0; i < 1000; ++i) {
    char* volatile p = malloc(16);
    free(p);
  }
}

static void __attribute__((noinline)) keep(void) {
  for (int i = 0; i < 10 && count < kMost; ++i) kept[count++] = malloc(100);
}

static void __attribute__((noinline)) release(void) {
  while (count > 0) free(kept[--count]);
}

int main(void) {
  char order;
  while (read(0, &order, 1) == 1 && order != 'e') {
    if (order == 'r') {
      often();
      keep();
    } else if (order == 'f') {
      release();
    } else if (order == 'c') {
      const pid_t child = fork();
      if (child != 0) {
        waitpid(child, NULL, 0);
      } else {
        often();
      }
    }
    if (write(1, ".", 1) != 1) return 1;
  }
  return 0;
}
