// A block is promised when the kernel would promise as many pages, and only then: by its rules of overcommit most
// systems refuse what is more than all memory.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "check.h"

static int IsPromised(size_t bytes) {
  void* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return 0;
  munmap(p, bytes);
  return 1;
}

// Frees p, and says whether there was one or the error that there has to be.
static int Got(void* p) {
  if (p == NULL) CHECK(errno == ENOMEM);
  free(p);
  errno = 0;
  return p != NULL;
}

static void Try(size_t bytes) {
  HIDE(bytes);
  const int promised = IsPromised(bytes);
  errno = 0;
  CHECK(Got(malloc(bytes)) == promised);
  CHECK(Got(calloc(1, bytes)) == promised);
  CHECK(Got(memalign(1 << 20, bytes)) == promised);
  for (size_t before = 1; before <= (size_t)8 << 20; before <<= 23) {
    char* p = malloc(before);
    CHECK(p != NULL);
    memset(p, 1, before);
    char* longer = realloc(p, bytes);
    CHECK((longer != NULL) == promised);
    CHECK((longer != NULL ? longer : p)[before - 1] == 1);
    CHECK(longer != NULL || errno == ENOMEM);
    free(longer != NULL ? longer : p);
  }
}

int main(void) {
  struct sysinfo info;
  CHECK(sysinfo(&info) == 0);
  const size_t total = (info.totalram + info.totalswap) * info.mem_unit;
  Try(2 * total);
  Try(16 * total);
  Try((size_t)1 << 45);
  // Room to grow is more than was asked for.
  if (IsPromised(total / 4 * 3)) Try(total / 4 * 3);
  return 0;
}
