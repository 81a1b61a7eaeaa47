// cpu_late_threads [CHILDREN]: a thread that never allocates uses 400 ms, as the first one does, beside two that allocate late:
// when others have had time to find them. So many processes are started and end before it begins, and take ids.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

enum { kLate = 2 };

static pthread_barrier_t found, begun, over;
static void *volatile block;

__attribute__((noinline)) static void *late(void *p) {
  pthread_barrier_wait(&found);
  block = malloc(10);
  pthread_barrier_wait(&begun);
  pthread_barrier_wait(&over);
  return p;
}

__attribute__((noinline)) static void *silent(void *p) {
  burn(400);
  return p;
}

int main(int argc, char **argv) {
  const int children = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t threads[kLate + 1];
  pthread_barrier_init(&found, NULL, kLate + 1);
  pthread_barrier_init(&begun, NULL, kLate + 1);
  pthread_barrier_init(&over, NULL, kLate + 1);
  block = malloc(10);
  for (int i = 0; i < kLate; i++) pthread_create(&threads[i], NULL, late, NULL);
  burn(200);
  pthread_barrier_wait(&found);
  pthread_barrier_wait(&begun);
  for (int i = 0; i < children; i++) {
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
  pthread_create(&threads[kLate], NULL, silent, NULL);
  burn(200);
  pthread_join(threads[kLate], NULL);
  pthread_barrier_wait(&over);
  for (int i = 0; i < kLate; i++) pthread_join(threads[i], NULL);
  return 0;
}
