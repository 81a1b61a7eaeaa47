// How much memory stays with a process that has freed what it had.
//
//   release MEBIBYTES BYTES SECONDS [THRESHOLD]
// Fills MEBIBYTES with blocks of BYTES, frees them all, then makes a pair of calls every 10 ms for that time. With a
// THRESHOLD, mallopt(M_TRIM_THRESHOLD) is called first. Prints the resident MiB: at the start, filled, freed, at the end.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static size_t ResidentMebibytes(void) {
  FILE* statm = fopen("/proc/self/statm", "r");
  unsigned long total, resident;
  if (statm == NULL || fscanf(statm, "%lu %lu", &total, &resident) != 2) abort();
  fclose(statm);
  return (resident * (size_t)sysconf(_SC_PAGESIZE)) >> 20;
}

static void Fill(size_t mebibytes, size_t bytes) {
  void* list = NULL;
  for (size_t filled = 0; filled < mebibytes << 20; filled += bytes) {
    void** block = malloc(bytes);
    if (block == NULL) abort();
    memset(block, 1, bytes);
    *block = list;
    list = block;
  }
  printf(" %zu", ResidentMebibytes());
  while (list != NULL) {
    void* next = *(void**)list;
    free(list);
    list = next;
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const long pauses = strtol(argv[3], NULL, 10) * 100;
  if (argc > 4 && mallopt(M_TRIM_THRESHOLD, atoi(argv[4])) != 1) return 1;
  printf("%zu", ResidentMebibytes());
  Fill(strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
  printf(" %zu", ResidentMebibytes());
  for (long i = 0; i < pauses; ++i) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    nanosleep(&pause, NULL);
    free(malloc(64));
  }
  printf(" %zu\n", ResidentMebibytes());
  return 0;
}
