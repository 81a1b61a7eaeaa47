// 512 MB of small blocks, freed: the resident set goes back below a quarter of it after malloc_trim.
#include <malloc.h>

#include "check.h"

enum { kBytes = 128, kCount = (512 << 20) / kBytes };

int main(void) {
  void* list = NULL;
  for (int i = 0; i < kCount; ++i) {
    void** p = malloc(kBytes);
    CHECK(p != NULL);
    *p = list;
    list = p;
  }
  const size_t full = ResidentBytes();
  CHECK(full >= (size_t)512 << 20);
  while (list != NULL) {
    void* next = *(void**)list;
    free(list);
    list = next;
  }
  malloc_trim(0);
  const size_t after = ResidentBytes();
  if (after >= full / 4) fprintf(stderr, "%zu of %zu bytes stay resident\n", after, full);
  return after >= full / 4;
}
