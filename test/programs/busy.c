/* Works until it is killed, in THREADS threads: busy THREADS BYTES [leave]
 *
 * Writes a '.' when it begins. Each allocates and releases blocks of BYTES, of which it keeps some for a while, so that after a moment only hit paths
 * are gone. BYTES 0: threads come and go, and sizes differ. 'forks' in the place of BYTES: the same in children that are
 * forked one after the other. Every block is filled and looked at. With 'leave' the first thread ends, and the others go on. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kKept = 8 };
static size_t bytes;

static void __attribute__((noinline)) one(unsigned char** kept, unsigned i, size_t size) {
  unsigned char** slot = &kept[i % kKept];
  if (*slot != NULL) {
    if (**slot != (unsigned char)(i - kKept)) abort();
    free(*slot);
  }
  *slot = malloc(size);
  **slot = (unsigned char)i;
}

static void* rounds(void* argument) {
  unsigned char* kept[kKept] = {0};
  for (unsigned i = 0; i < *(unsigned*)argument; ++i) one(kept, i, 1 + i * 53 % 3000);
  for (int i = 0; i < kKept; ++i) free(kept[i]);
  return NULL;
}

static void* work(void* argument) {
  unsigned char* kept[kKept] = {0};
  unsigned some = 5000;
  for (unsigned i = 0;; ++i) {
    if (bytes != 0) {
      one(kept, i, bytes);
    } else {
      pthread_t thread;
      if (pthread_create(&thread, NULL, rounds, &some) == 0) pthread_join(thread, NULL);
    }
  }
  return argument;
}

static int children(void) {
  for (;;) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      unsigned some = 20000;
      rounds(&some);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
}

int main(int count, char** arguments) {
  if (count != 3 && count != 4) return 2;
  bytes = strtoul(arguments[2], NULL, 10);
  for (int t = 1; t < atoi(arguments[1]); ++t) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
  }
  if (write(1, ".", 1) != 1) return 1;
  if (strcmp(arguments[2], "forks") == 0) return children();
  if (count == 4) pthread_exit(NULL);
  work(NULL);
}
