// fork_threads FORKS: forks while four threads allocate. The child allocates, and makes a thread that does.
#include <pthread.h>
#include <sys/wait.h>

#include "check.h"

enum { kThreads = 4 };
static volatile int stop;

static void Churn(unsigned* random, int rounds) {
  static __thread void* blocks[64];
  for (int i = 0; i < rounds; ++i) {
    *random = *random * 1664525 + 1013904223;
    const unsigned slot = *random >> 26;
    free(blocks[slot]);
    blocks[slot] = malloc(1u << (4 + (*random >> 8) % 14));
    CHECK(blocks[slot] != NULL);
    memset(blocks[slot], 1, 16);
  }
}

static void* Allocate(void* seed) {
  unsigned random = (unsigned)(size_t)seed;
  while (!stop) Churn(&random, 64);
  return NULL;
}

static void* AllocateOnce(void* seed) {
  unsigned random = (unsigned)(size_t)seed;
  Churn(&random, 500);
  return NULL;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int forks = atoi(argv[1]);
  pthread_t threads[kThreads];
  for (size_t i = 0; i < kThreads; ++i)
    CHECK(pthread_create(&threads[i], NULL, Allocate, (void*)(i + 1)) == 0);
  unsigned random = 99;
  for (int i = 0; i < forks; ++i) {
    Churn(&random, 50);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(300);
      Churn(&random, 500);
      pthread_t thread;
      CHECK(pthread_create(&thread, NULL, AllocateOnce, (void*)7) == 0);
      CHECK(pthread_join(thread, NULL) == 0);
      _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = 1;
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
