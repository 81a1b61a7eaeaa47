// Small blocks, freed: the resident set goes back below a quarter of it after malloc_trim, and below a half when one
// in 16 KiB lives on.
#include <malloc.h>

#include "check.h"

enum { kBytes = 128, kCount = (512 << 20) / kBytes, kApart = 128 };

// Frees all of them but each `kept`th, unless that is 0, and says whether the memory went back.
static int GoesBack(int kept, int share) {
  void* list = NULL;
  for (int i = 0; i < kCount; ++i) {
    void** p = malloc(kBytes);
    CHECK(p != NULL);
    *p = list;
    list = p;
  }
  const size_t full = ResidentBytes();
  CHECK(full >= (size_t)512 << 20);
  void* rest = NULL;
  for (int i = 0; list != NULL; ++i) {
    void* next = *(void**)list;
    if (kept != 0 && i % kept == 0) {
      *(void**)list = rest;
      rest = list;
    } else {
      free(list);
    }
    list = next;
  }
  CHECK(malloc_trim(0) == 1);
  const size_t after = ResidentBytes();
  while (rest != NULL) {
    void* next = *(void**)rest;
    free(rest);
    rest = next;
  }
  malloc_trim(0);
  if (after >= full / share)
    fprintf(stderr, "%zu of %zu bytes stay resident, one of %d kept\n", after, full, kept);
  return after < full / share;
}

int main(void) { return GoesBack(0, 4) && GoesBack(kApart, 2) ? 0 : 1; }
