// The resident set follows the live heap down. Fills the heap with blocks of 16 to 4096 bytes, frees the first nine
// tenths of them in the order they were allocated, then makes one call every 10 ms and looks how much memory the
// process still holds.
//
//   follows_down MEBIBYTES SECONDS CALL MOST
//     CALL  one: malloc(64) that is kept; mixed: malloc of changing sizes that is kept; pair: malloc(64) and free of
//           it; none: no call at all, then malloc_trim
//     MOST  the bound: resident bytes over requested live bytes, above what the process held at its start
// Prints the figure; exit status 1 above the bound.
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../surface/check.h"

static uint64_t state = 1;

static size_t AnySize(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return 16 + (state >> 33) % 4081;
}

static void Sleep10Milliseconds(void) {
  const struct timespec pause = {0, 10 * 1000 * 1000};
  nanosleep(&pause, NULL);
}

// One call; returns the bytes that stay live by it.
static size_t Call(const char* kind) {
  if (strcmp(kind, "none") == 0) return 0;
  const size_t bytes = strcmp(kind, "mixed") == 0 ? AnySize() : 64;
  char* block = malloc(bytes);
  if (block == NULL) abort();
  memset(block, 1, bytes);
  if (strcmp(kind, "pair") != 0) return bytes;
  free(block);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const size_t wanted = strtoull(argv[1], NULL, 10) << 20;
  const int calls = atoi(argv[2]) * 100;
  const char* const kind = argv[3];
  const double most = atof(argv[4]);

  const size_t at_start = ResidentBytes();
  // Not from the heap, and counted as live: 16 bytes are the least block.
  const size_t capacity = wanted / 1024;
  struct {
    char* start;
    size_t bytes;
  }* const blocks = calloc(capacity, sizeof(*blocks));
  if (blocks == NULL) return 2;
  size_t count = 0, live = 0;
  while (live < wanted && count < capacity) {
    const size_t bytes = AnySize();
    blocks[count].start = malloc(bytes);
    if (blocks[count].start == NULL) return 2;
    memset(blocks[count].start, 1, bytes);
    blocks[count++].bytes = bytes;
    live += bytes;
  }
  const size_t full = ResidentBytes();
  for (size_t i = 0; i < count / 10 * 9; ++i) {
    free(blocks[i].start);
    live -= blocks[i].bytes;
  }
  live += count * sizeof(*blocks);
  const size_t freed = ResidentBytes();
  for (int i = 0; i < calls; ++i) {
    live += Call(kind);
    Sleep10Milliseconds();
  }
  if (strcmp(kind, "none") == 0) malloc_trim(0);
  const size_t resident = ResidentBytes() - at_start;
  const double ratio = (double)resident / (double)live;
  printf("%s: live %zu KiB, resident %zu KiB (full %zu, just freed %zu): %.3f, at most %.3f\n", kind,
         live >> 10, resident >> 10, (full - at_start) >> 10, (freed - at_start) >> 10, ratio, most);
  return ratio > most;
}
