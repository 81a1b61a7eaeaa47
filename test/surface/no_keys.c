// The program takes all of pthread's keys before anything else, by which libmallow sees threads end: what those threads
// held goes back all the same.
#include <pthread.h>

#include "check.h"

enum { kThreads = 2000 };

static void* Work(void* nothing) {
  for (size_t bytes = 1; bytes < 5000; bytes *= 2) free(memset(malloc(bytes), 1, bytes));
  return nothing;
}

int main(void) {
  pthread_key_t key;
  while (pthread_key_create(&key, NULL) == 0) continue;
  size_t before = 0;
  for (int i = 0; i < kThreads; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, Work, NULL) == 0 && pthread_join(thread, NULL) == 0);
    if (i == kThreads / 10) before = ResidentBytes();
  }
  CHECK(ResidentBytes() < before + (4 << 20));
  return 0;
}
