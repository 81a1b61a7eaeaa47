// A tokenizer whose memory comes from a wrapper that ends the program when there is none.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* xmalloc(size_t size) {
  void* block = malloc(size);
  if (block == NULL) abort();
  return block;
}

struct token {
  struct token* next;
  char text[];
};

static struct token* tokenize(const char* line) {
  struct token* first = NULL;
  while (*line != '\0') {
    size_t length = 0;
    while (isalnum((unsigned char)line[length])) length++;
    if (length > 0) {
      struct token* token = xmalloc(sizeof *token + length + 1);
      // + free(xmalloc(length));
      memcpy(token->text, line, length);
      token->text[length] = '\0';
      token->next = first;
      first = token;
    }
    line += length + (line[length] != '\0');
  }
  return first;
}

int main(void) {
  int count = 0;
  for (int i = 0; i < 300; i++) {
    for (struct token *t = tokenize("let x1 = (alpha + beta) * 42; return x1"), *next; t != NULL; t = next) {
      next = t->next;
      count++;
      free(t);
    }
  }
  printf("%d\n", count);
  return 0;
}
