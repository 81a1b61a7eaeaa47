// A program that allocates the same in every run.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* copy_word(const char* word) {
  char* copy = malloc(strlen(word) + 1);
  strcpy(copy, word);
  return copy;
}

__attribute__((noinline)) static int parse_line(int n) {
  char text[32];
  snprintf(text, sizeof text, "word %d", n);
  char* word = copy_word(text);
  int length = strlen(word);
  free(word);
  return length;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 1000; i++) sum += parse_line(i);
  printf("%d\n", sum);
  return 0;
}
