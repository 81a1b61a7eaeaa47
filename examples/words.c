// Counts the different words of its standard input: a program as they are written, with the waste that they have.
// Every word is collected in a block that grows by one byte at a time, and looked up with a copy in lower case.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
  struct word* next;
  char* text;
};

static char* read_word(void) {
  char* text = NULL;
  size_t length = 0;
  int c;
  while ((c = getchar()) != EOF && !isalpha(c)) {
  }
  for (; c != EOF && isalpha(c); c = getchar()) {
    text = realloc(text, length + 2);
    text[length++] = (char)c;
    text[length] = '\0';
  }
  return text;
}

static struct word* find(struct word* words, const char* text) {
  char* lower = strdup(text);
  for (char* p = lower; *p; ++p) *p = (char)tolower((unsigned char)*p);
  while (words && strcmp(words->text, lower) != 0) words = words->next;
  free(lower);
  return words;
}

int main(void) {
  struct word* words = NULL;
  unsigned different = 0;
  char* text;
  while ((text = read_word()) != NULL) {
    if (find(words, text) == NULL) {
      struct word* word = malloc(sizeof(*word));
      for (char* p = text; *p; ++p) *p = (char)tolower((unsigned char)*p);
      word->text = text;
      word->next = words;
      words = word;
      ++different;
    } else {
      free(text);
    }
  }
  printf("%u different words\n", different);
}
