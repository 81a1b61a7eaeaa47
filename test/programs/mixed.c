/* Known totals of blocks that differ in size and life, in THREADS threads and CHILDREN fork children: mixed THREADS CHILDREN
 *
 * Each thread, and each child, makes in small() 20,000 blocks of 24 bytes and frees them at once; in medium() 2,000 of
 * 1,000 bytes and frees every second; in large() 40 of 100,000 bytes and frees none; in shorter() 500 of 200 bytes,
 * which longer() makes 3,000 long, and frees them. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept;

static void __attribute__((noinline)) small(void) {
  for (int i = 0; i < 20000; ++i) {
    char* volatile p = malloc(24);
    free(p);
  }
}
static void __attribute__((noinline)) medium(void) {
  for (int i = 0; i < 2000; ++i) {
    char* volatile p = malloc(1000);
    if (i % 2 == 0) free(p);
    kept = p;
  }
}
static void __attribute__((noinline)) large(void) {
  for (int i = 0; i < 40; ++i) kept = malloc(100000);
}
static void* __attribute__((noinline)) shorter(void) {
  char* volatile p = malloc(200);
  return p;
}
static void* __attribute__((noinline)) longer(void* p) {
  char* volatile q = realloc(p, 3000);
  return q;
}

static void* work(void* argument) {
  small();
  medium();
  large();
  for (int i = 0; i < 500; ++i) free(longer(shorter()));
  return argument;
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const int threads = atoi(arguments[1]), children = atoi(arguments[2]);
  pthread_t ids[64];
  for (int t = 0; t < threads && t < 64; ++t) pthread_create(&ids[t], NULL, work, NULL);
  for (int t = 0; t < threads && t < 64; ++t) pthread_join(ids[t], NULL);
  for (int c = 0; c < children; ++c) {
    const pid_t child = fork();
    if (child == 0) {
      work(NULL);
      exit(0);
    }
  }
  while (wait(NULL) > 0) {
  }
  return 0;
}
