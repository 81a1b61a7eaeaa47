// Two threads that never allocate use 400 ms each, and so does the first one.
#include <pthread.h>
#include <stdlib.h>

#include "burn.h"

__attribute__((noinline)) static void *silent_1(void *p) {
  burn(400);
  return p;
}

__attribute__((noinline)) static void *silent_2(void *p) {
  burn(200);
  burn(200);
  return p;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, silent_1, NULL);
  pthread_create(&two, NULL, silent_2, NULL);
  free(malloc(10));
  burn(400);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
