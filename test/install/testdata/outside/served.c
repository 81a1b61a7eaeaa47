/* Prints the version of the malloc that serves it, if that is mallow. */
#include <mallow/mallow.h>
#include <mallow/tc_extension.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Linked with nothing, for LD_PRELOAD. A weak reference takes nothing out of an archive. */
#ifdef PRELOADED
#pragma weak mallow_version
#pragma weak MallocExtension_GetOwnership
static int IsThere(void) { return mallow_version != NULL && MallocExtension_GetOwnership != NULL; }
#else
static int IsThere(void) { return 1; }
#endif

int main(void) {
  char* block = malloc(100);
  char* copy = strdup("copied by libc's own hands");
  char* line = NULL;
  size_t room = 0;
  if (block == NULL || copy == NULL || getline(&line, &room, stdin) < 0) return 1;
  if (!IsThere()) {
    puts("not mallow");
  } else if (MallocExtension_GetOwnership(block) != MallocExtension_kOwned ||
             MallocExtension_GetOwnership(copy) != MallocExtension_kOwned ||
             MallocExtension_GetOwnership(line) != MallocExtension_kOwned) {
    puts("mallow is there, but some blocks are not its own");
  } else {
    printf("mallow %s\n", mallow_version());
  }
  free(block);
  free(copy);
  free(line);
  return 0;
}
