// many_threads LIVE CHURNED: so many threads at once, then so many one after the other; blocks go from thread to thread.
#include <pthread.h>

#include "check.h"

static pthread_barrier_t all_there;

static void* Live(void* block) {
  free(block);
  void* blocks[20];
  for (int i = 0; i < 20; ++i) CHECK((blocks[i] = malloc(1 + i * 50)) != NULL);
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < 20; ++i) free(blocks[i]);
  return malloc(24);
}

static void* Short(void* block) {
  free(block);
  return malloc(40);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const int live = atoi(argv[1]), churned = atoi(argv[2]);
  pthread_attr_t small;
  CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 64 * 1024) == 0);
  CHECK(pthread_barrier_init(&all_there, NULL, live) == 0);
  pthread_t* threads = calloc(live, sizeof(pthread_t));
  for (int i = 0; i < live; ++i) CHECK(pthread_create(&threads[i], &small, Live, malloc(33)) == 0);
  for (int i = 0; i < live; ++i) {
    void* block;
    CHECK(pthread_join(threads[i], &block) == 0 && block != NULL);
    free(block);
  }
  free(threads);
  void* passed = malloc(10);
  for (int i = 0; i < churned; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, &small, Short, passed) == 0);
    CHECK(pthread_join(thread, &passed) == 0);
  }
  free(passed);
  return 0;
}
