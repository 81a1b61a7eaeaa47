// A program with a beginning, a middle and an end.
//
//   phases THREADS ROUNDS [FILES]
//                             each thread keeps 20,000 blocks of 64 bytes, then allocates and releases ROUNDS times,
//                             then releases what it kept; none is ahead of the others. The last of that they release
//                             one after the other, so that each sees to its own. It ends by _exit. In the middle the
//                             first opens FILES files, for each of which libc allocates
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { kKept = 20000, kAlone = 2000 };

static pthread_barrier_t together;
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
static long rounds, files;

NOINLINE static void *Keep(void) {
  return malloc(64);  // site keep
}

NOINLINE static void Serve(void) {
  free(malloc(100));  // site serve
}

static void *kept[8][kKept];

static void *Live(void *argument) {
  void **mine = argument;
  pthread_barrier_wait(&together);
  for (int i = 0; i < kKept; i++) mine[i] = Keep();
  pthread_barrier_wait(&together);
  for (long i = 0; i < rounds; i++) Serve();
  for (; argument == kept[0] && files > 0; files--) fclose(fopen("/dev/null", "r"));
  pthread_barrier_wait(&together);
  for (int i = kAlone; i < kKept; i++) free(mine[i]);
  pthread_barrier_wait(&together);
  pthread_mutex_lock(&alone);
  for (int i = 0; i < kAlone; i++) free(mine[i]);
  pthread_mutex_unlock(&alone);
  pthread_barrier_wait(&together);
  return NULL;
}

int main(int count, char **arguments) {
  if (count < 3 || count > 4) return 2;
  const int threads = atoi(arguments[1]);
  rounds = atol(arguments[2]);
  files = count == 4 ? atol(arguments[3]) : 0;
  pthread_barrier_init(&together, NULL, (unsigned)threads);
  pthread_t ids[8];
  for (int i = 1; i < threads; i++) pthread_create(&ids[i], NULL, Live, kept[i]);
  Live(kept[0]);
  for (int i = 1; i < threads; i++) pthread_join(ids[i], NULL);
  _exit(0);
}
