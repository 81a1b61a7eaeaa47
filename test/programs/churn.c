// 400 threads, eight at a time, each with 100 allocations; every second one is freed by the main thread.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *into) {
  void **blocks = into;
  for (int i = 0; i < 100; i++) {
    void *block = malloc(64);
    if (i % 2)
      blocks[i / 2] = block;
    else
      free(block);
  }
  return NULL;
}

int main(void) {
  static void *blocks[8][50];
  for (int round = 0; round < 50; round++) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
      if (pthread_create(&threads[i], NULL, work, blocks[i]) != 0) abort();
    for (int i = 0; i < 8; i++) {
      pthread_join(threads[i], NULL);
      for (int at = 0; at < 50; at++) free(blocks[i][at]);
    }
  }
  return 0;
}
