// What programs of all kinds execute of libmallow.so and read of its constants lies in two segments (layout.ld): of the
// others nothing comes into memory, while a page of them would bring up to 64 KiB of the file.
//
// Two threads allocate, pass on and free blocks of 16 bytes to 32 KiB, then memory is given back. Prints the segments of
// the library in memory; exit status 1 if one of the others is, or if none of the others was seen.
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBlocks = 4096, kRounds = 20 };

static void* blocks[kBlocks];

static void* FreeAll(void* nothing) {
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  return nothing;
}

static void Exercise(size_t most) {
  for (int i = 0; i < kBlocks; ++i) {
    const size_t bytes = 16 + (size_t)i * 7919 % most;
    blocks[i] = i % 3 == 0 ? calloc(1, bytes) : malloc(bytes);
    if (blocks[i] == NULL) abort();
    if (i % 5 == 0) blocks[i] = realloc(blocks[i], bytes + 1);
  }
  pthread_t other;
  if (pthread_create(&other, NULL, FreeAll, NULL) != 0) abort();
  pthread_join(other, NULL);
}

static void Wait(void) {
  for (int i = 0; i < 60; ++i) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    nanosleep(&pause, NULL);
    free(malloc(4000));
  }
}

// Whether of the file's segments that hold neither malloc nor tables and are never written, none is in memory.
static int StaysTogether(uintptr_t code) {
  static char line[4096];
  FILE* maps = fopen("/proc/self/smaps", "r");
  if (maps == NULL) abort();
  int seen = 0, in_memory = 0, behind = 0, stranger = 0;
  while (fgets(line, sizeof(line), maps) != NULL) {
    uintptr_t from, to;
    char rights[8];
    long kilobytes;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, rights) == 3) {
      const int ours = strstr(line, "libmallow") != NULL;
      stranger = ours && behind && rights[1] == '-' && to - from > 8192;
      seen += stranger;
      behind = ours && (behind || (from <= code && code < to));
      if (ours) printf("%s", line);
    } else if (stranger && sscanf(line, "Rss: %ld", &kilobytes) == 1 && kilobytes > 0) {
      printf("  %ld kB of it are in memory\n", kilobytes);
      ++in_memory;
    }
  }
  fclose(maps);
  if (seen == 0) puts("no segment of libmallow behind malloc's is mapped: there is nothing to look at");
  return seen > 0 && in_memory == 0;
}

int main(void) {
  for (int round = 0; round < kRounds; ++round) Exercise(round % 2 == 0 ? 512 : 32768);
  Wait();
  return StaysTogether((uintptr_t)&malloc) ? 0 : 1;
}
