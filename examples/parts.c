// A part that computes and one that makes lists, for a look at where CPU time goes: mallow record --cpu ./parts
#include <stdlib.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void spin(unsigned long rounds) {
  for (unsigned long i = 0; i < rounds; i++) sink += i;
}

struct item {
  struct item *next;
  int value;
};

__attribute__((noinline)) static void build(int items) {
  struct item *list = NULL;
  for (int i = 0; i < items; i++) {
    struct item *item = malloc(sizeof *item);
    if (item == NULL) break;
    *item = (struct item){list, i};
    list = item;
  }
  while (list != NULL) {
    struct item *next = list->next;
    free(list);
    list = next;
  }
}

int main(void) {
  for (int i = 0; i < 100; i++) {
    // Never the same twice, so that no row of equal rounds keeps step with the clock that takes the samples.
    spin(6000000 + 120000 * (unsigned long)i);
    build(100000);
  }
  return 0;
}
