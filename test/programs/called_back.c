// Has libc release blocks of the program, by handing it free, beside such that libc has made for itself.
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

int main(void) {
  void* tree = NULL;
  for (int i = 0; i < 10; i++) {
    int* number = malloc(sizeof(int));
    *number = i;
    tsearch(number, &tree, compare);  // libc makes a node
  }
  tdestroy(tree, free);
  char* line = NULL;
  if (asprintf(&line, "%d", 7) == 1) free(line);  // made by libc, released by the program
  return 0;
}
