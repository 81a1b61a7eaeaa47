// Threads that allocate and free in rounds until nothing lives any more, and end or sleep. Then one pair of malloc and free
// every 10 ms: what lay between them goes back, though hardly a page was free in the end, and of their caches what the
// budget says.
//
//   pool ends|sleeps THREADS ROUNDS MEBIBYTES LONGEST MOST
//     MEBIBYTES  that each thread allocates in a round, in blocks of 16 to LONGEST bytes, seven of eight a 16th of that
//     MOST       the bound two seconds later: resident MiB above what the process held at its start
// Prints the figures; exit status 1 above the bound.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../surface/check.h"

enum { kPairs = 200 };

static int threads, rounds, sleeps;
static size_t bytes_per_round, longest;
static pthread_barrier_t round_begins, all_done;

static void* Work(void* number) {
  uint64_t state = (uintptr_t)number;
  void* newest = NULL;
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&round_begins);
    for (size_t done = 0; done < bytes_per_round;) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const size_t most = state >> 61 ? longest / 16 : longest;
      const size_t bytes = 16 + (state >> 33) % (most - 15);
      void** block = malloc(bytes);
      if (block == NULL) abort();
      memset(block, 1, bytes);
      *block = newest;
      newest = block;
      done += bytes;
    }
    while (newest != NULL) {
      void* const next = *(void**)newest;
      free(newest);
      newest = next;
    }
  }
  pthread_barrier_wait(&all_done);
  if (sleeps) pause();
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  sleeps = strcmp(argv[1], "sleeps") == 0;
  threads = atoi(argv[2]);
  rounds = atoi(argv[3]);
  bytes_per_round = (size_t)atoi(argv[4]) << 20;
  longest = (size_t)atoi(argv[5]);
  const size_t most = (size_t)atoi(argv[6]) << 20;

  const size_t at_start = ResidentBytes();
  pthread_t* const pool = calloc((size_t)threads, sizeof(*pool));
  if (pool == NULL || pthread_barrier_init(&round_begins, NULL, (unsigned)threads) != 0 ||
      pthread_barrier_init(&all_done, NULL, (unsigned)threads + 1) != 0) {
    return 2;
  }
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&pool[i], NULL, Work, (void*)(uintptr_t)(i + 1)) != 0) return 2;
  pthread_barrier_wait(&all_done);
  for (int i = 0; i < threads && !sleeps; ++i) pthread_join(pool[i], NULL);
  free(pool);
  const size_t done = ResidentBytes() - at_start;
  for (int i = 0; i < kPairs; ++i) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    nanosleep(&pause, NULL);
    char* volatile block = malloc(64);
    block[0] = 1;
    free(block);
  }
  const size_t resident = ResidentBytes() - at_start;
  printf("when they were done %zu KiB, now %zu KiB, at most %zu KiB\n", done >> 10, resident >> 10,
         most >> 10);
  fflush(stdout);
  _exit(resident > most);
}
