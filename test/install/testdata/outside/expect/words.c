#include "words.h"

#include <stdlib.h>
#include <string.h>

char* CopyWord(const char* word) {
  char* copy = malloc(strlen(word) + 1);
  strcpy(copy, word);
  return copy;
}

void CopyWords(int count) {
  for (int i = 0; i < count; i++) free(CopyWord("word"));
}
