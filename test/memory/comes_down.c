// Memory that a thread freed goes back though only other threads call, or only calls follow that a cache serves. Fills
// the heap, frees nine tenths of it, and looks what the process holds after some seconds.
//
//   comes_down MEBIBYTES SECONDS HOW MOST [busy]
//     HOW   sleeps: another thread frees, and sleeps; this one goes on with malloc(64) and free of it
//           ends: the same, but the other thread ends
//           handed: this thread has allocated what the other one frees
//           large, large_sleeps: blocks of 260 KiB to 1 MiB, freed by this thread, or by another that sleeps
//           shrinks: long blocks become a tenth by realloc
//     MOST  the bound: resident bytes over requested live bytes, above what the process held at its start
//     busy  calls without a pause; else one pair every 10 ms
// Prints the figure; exit status 1 above the bound.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../surface/check.h"

static uint64_t state = 1;
static const char* how;
static size_t wanted, live, count, full;
static int large;

static struct {
  char* start;
  size_t bytes;
} * blocks;

static size_t AnySize(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return large ? 260 * 1024 + (state >> 33) % (764 * 1024) : 16 + (state >> 33) % 4081;
}

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void Fill(void) {
  const size_t capacity = wanted / (large ? 260 * 1024 : 1024) + 1;
  // Counted as live.
  blocks = calloc(capacity, sizeof(*blocks));
  if (blocks == NULL) abort();
  for (count = live = 0; live < wanted && count < capacity; ++count) {
    const size_t bytes = AnySize();
    blocks[count].start = malloc(bytes);
    if (blocks[count].start == NULL) abort();
    memset(blocks[count].start, 1, bytes);
    blocks[count].bytes = bytes;
    live += bytes;
  }
  live += capacity * sizeof(*blocks);
}

static void FreeMost(void) {
  full = ResidentBytes();
  for (size_t i = 0; i < count / 10 * 9; ++i) {
    live -= blocks[i].bytes;
    if (strcmp(how, "shrinks") == 0) {
      blocks[i].start = realloc(blocks[i].start, blocks[i].bytes / 10 + 260 * 1024);
      live += blocks[i].bytes / 10 + 260 * 1024;
    } else {
      free(blocks[i].start);
    }
  }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int done;

static void* Other(void* nothing) {
  if (strcmp(how, "handed") != 0) Fill();
  FreeMost();
  pthread_mutex_lock(&mutex);
  done = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  if (strcmp(how, "ends") != 0) pause();
  return nothing;
}

static void Hit(void) {
  char* volatile block = malloc(64);
  block[0] = 1;
  free(block);
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  wanted = strtoull(argv[1], NULL, 10) << 20;
  const double seconds = atof(argv[2]);
  how = argv[3];
  const double most = atof(argv[4]);
  const int busy = argc > 5;
  const int shrinks = strcmp(how, "shrinks") == 0;
  large = strncmp(how, "large", 5) == 0 || shrinks;
  if (shrinks) large = 1;

  for (int i = 0; i < 100; ++i) Hit();
  const size_t at_start = ResidentBytes();
  if (strcmp(how, "handed") == 0 || strcmp(how, "large") == 0 || shrinks) Fill();
  if (strcmp(how, "large") == 0 || shrinks) {
    FreeMost();
  } else {
    pthread_t other;
    if (pthread_create(&other, NULL, Other, NULL) != 0) return 2;
    pthread_mutex_lock(&mutex);
    while (!done) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
  }
  const size_t freed = ResidentBytes();
  const double begin = Now();
  while (Now() < begin + seconds) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    if (!busy) nanosleep(&pause, NULL);
    for (int i = 0; i < (busy ? 100000 : 1); ++i) Hit();
  }
  const size_t resident = ResidentBytes() - at_start;
  const double ratio = (double)resident / (double)live;
  printf("%s: live %zu KiB, resident %zu KiB (full %zu, just freed %zu): %.3f, at most %.3f\n", how,
         live >> 10, resident >> 10, (full - at_start) >> 10, (freed - at_start) >> 10, ratio, most);
  return ratio > most;
}
