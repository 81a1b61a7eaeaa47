// Four threads with 100, 200, 300 and 400 ms; the third one has every signal blocked before it allocates.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "burn.h"

static void *volatile kept;

#define WORKER(number)                                              \
  __attribute__((noinline)) static void *worker_##number(void *p) { \
    if (number == 3) {                                              \
      sigset_t all;                                                 \
      sigfillset(&all);                                             \
      pthread_sigmask(SIG_BLOCK, &all, NULL);                       \
    }                                                               \
    kept = malloc(10);                                              \
    burn(100 * number);                                             \
    return p;                                                       \
  }
WORKER(1)
WORKER(2)
WORKER(3)
WORKER(4)

int main(void) {
  void *(*const workers[])(void *) = {worker_1, worker_2, worker_3, worker_4};
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, workers[i], NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
