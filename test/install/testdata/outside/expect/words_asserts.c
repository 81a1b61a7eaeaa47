// With an argument it allocates more than it promises.
#include <assert.h>
#include <mallow/expect.h>
#include <stdio.h>
#include <stdlib.h>

#include "words.h"

static int Leaves(void) {
  MALLOW_EXPECT_ALLOCATIONS(1) {
    CopyWords(1);
    return 1;
  }
  return 0;
}

int main(int count, char** arguments) {
  (void)arguments;
  MALLOW_EXPECT_ALLOCATIONS(3) {
    CopyWords(2 + count);
    printf("words\n");  // the buffer of stdout is libc's own affair
  }
  MALLOW_EXPECT_ALLOCATIONS_AT_MOST(2) {
    char* word = CopyWord("word");
    assert(word != NULL);
    free(word);
  }
  assert(Leaves() == 1);
  return 0;
}
