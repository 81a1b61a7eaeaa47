// Threads that allocate and free in rounds, and end when nothing lives any more. Then one pair of malloc and free every 10 ms:
// what lay in their caches and between them goes back, though hardly a page was free when the last one ended.
//
//   pool_ends THREADS ROUNDS MEBIBYTES SECONDS MOST
//     MEBIBYTES  that each thread allocates in a round, in blocks of 16 bytes to 8 KiB
//     MOST       the bound: resident MiB above what the process held at its start
// Prints the figures; exit status 1 above the bound.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int threads, rounds;
static size_t bytes_per_round;
static pthread_barrier_t round_begins;

static size_t ResidentBytes(void) {
  static char text[256];
  FILE* statm = fopen("/proc/self/statm", "r");
  unsigned long total, resident;
  if (statm == NULL || fgets(text, sizeof(text), statm) == NULL ||
      sscanf(text, "%lu %lu", &total, &resident) != 2)
    abort();
  fclose(statm);
  return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void* Work(void* number) {
  uint64_t state = (uintptr_t)number;
  void* newest = NULL;
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&round_begins);
    for (size_t done = 0; done < bytes_per_round;) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const size_t most = state >> 61 ? 512 : 8192;
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
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  threads = atoi(argv[1]);
  rounds = atoi(argv[2]);
  bytes_per_round = (size_t)atoi(argv[3]) << 20;
  const int pairs = atoi(argv[4]) * 100;
  const size_t most = (size_t)atoi(argv[5]) << 20;

  const size_t at_start = ResidentBytes();
  pthread_t* const pool = calloc((size_t)threads, sizeof(*pool));
  if (pool == NULL || pthread_barrier_init(&round_begins, NULL, (unsigned)threads) != 0) return 2;
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&pool[i], NULL, Work, (void*)(uintptr_t)(i + 1)) != 0) return 2;
  for (int i = 0; i < threads; ++i) pthread_join(pool[i], NULL);
  free(pool);
  const size_t ended = ResidentBytes() - at_start;
  for (int i = 0; i < pairs; ++i) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    nanosleep(&pause, NULL);
    char* volatile block = malloc(64);
    block[0] = 1;
    free(block);
  }
  const size_t resident = ResidentBytes() - at_start;
  printf("when they had ended %zu KiB, now %zu KiB, at most %zu KiB\n", ended >> 10, resident >> 10,
         most >> 10);
  return resident > most;
}
