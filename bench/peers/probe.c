// Prints, one a line, the file that each function of malloc's family comes from: by it one sees that a preloaded library
// serves them all.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  static const char* const kNames[] = {"malloc",  "free",           "calloc",
                                       "realloc", "posix_memalign", "aligned_alloc"};
  void* block = malloc(100);  // it must work, too
  if (block == NULL) return 1;
  free(block);
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    Dl_info found;
    void* function = dlsym(RTLD_DEFAULT, kNames[i]);
    if (function == NULL || dladdr(function, &found) == 0) return 1;
    printf("%s %s\n", kNames[i], found.dli_fname);
  }
  return 0;
}
