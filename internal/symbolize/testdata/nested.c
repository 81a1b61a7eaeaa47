/* Static functions inlined into each other, a nested function, cold parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int value; };

static inline struct node *push(struct node *list, int value) {
  struct node *n = malloc(sizeof *n);
  if (!n) abort();
  n->next = list;
  n->value = value;
  return n;
}

static struct node *build(int n) {
  struct node *list = NULL;
  for (int i = 0; i < n; i++) list = push(list, i * i);
  return list;
}

__attribute__((noinline)) static int sum(const struct node *list, int (*f)(int)) {
  int total = 0;
  for (; list; list = list->next) total += f(list->value);
  return total;
}

__attribute__((cold, noinline)) static void complain(const char *what) { fprintf(stderr, "bad: %s\n", what); }

int scaled(int n, int scale) {
  if (n > 1000) complain("too many");
#ifdef __clang__
  (void)scale;
  return sum(build(n), abs);
#else
  int times(int v) { return v * scale; }
  return sum(build(n), times);
#endif
}

int main(int argc, char **argv) {
  char *copy = strdup(argv[0]);
  int result = scaled(argc * 10, (int)strlen(copy));
  free(copy);
  return result & 1;
}
