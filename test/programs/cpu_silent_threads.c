// Two threads that never allocate use 400 ms each, and so does the first one. They begin when that has had time to find
// them, however late a busy machine lets it run.
#include <pthread.h>
#include <stdlib.h>

#include "burn.h"

static pthread_barrier_t found;

__attribute__((noinline)) static void *silent_1(void *p) {
  pthread_barrier_wait(&found);
  burn(400);
  return p;
}

__attribute__((noinline)) static void *silent_2(void *p) {
  pthread_barrier_wait(&found);
  burn(200);
  burn(200);
  return p;
}

int main(void) {
  pthread_t one, two;
  pthread_barrier_init(&found, NULL, 3);
  pthread_create(&one, NULL, silent_1, NULL);
  pthread_create(&two, NULL, silent_2, NULL);
  free(malloc(10));
  burn(100);
  pthread_barrier_wait(&found);
  burn(300);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
