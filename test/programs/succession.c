// Threads that take the place of one that has ended: the second releases what the first has made, and each its own.
#include <pthread.h>
#include <stdlib.h>

enum { kBlocks = 100 };
static void *blocks[kBlocks];

__attribute__((noinline)) static void *make(size_t bytes) { return malloc(bytes); }
__attribute__((noinline)) static void *make_own(size_t bytes) { return calloc(1, bytes); }

static void keep_to_oneself(void) {
  void *own[kBlocks];
  for (int i = 0; i < kBlocks; i++) own[i] = make_own(24);
  for (int i = 0; i < kBlocks; i++) free(own[i]);
}

static void *first(void *argument) {
  keep_to_oneself();
  for (int i = 0; i < kBlocks; i++) blocks[i] = make(48);
  return argument;
}

static void *second(void *argument) {
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
  keep_to_oneself();
  return argument;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, second, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
