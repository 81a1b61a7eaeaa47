/* Samples of one thread while another one is just making the side records of their span, as hardly ever happens: overlapping
 *
 * Whenever the first thread, in its mallocs, is about to ask the system to make memory writable, hasty() of the second one
 * frees some new blocks of the same size at once, and keeps as many, for as long as it can without the first one. Each size is
 * a new one, and lies far from those before: records are made where there were none. How often hasty() was called is the
 * program's output. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trapped_calls.h"
#include "wait_briefly.h"

enum { kStep = 16, kSizes = 40, kLarge = 300000, kLarges = 14, kEachTime = 3 };

static volatile size_t bytes;
static void* volatile kept;

static sem_t start, done;
static volatile int ended;
static int calls; /* of hasty */

static void __attribute__((noinline)) hasty(void) {
  for (int i = 0; i < kEachTime; ++i) {
    free(malloc(bytes));
    kept = malloc(bytes);
  }
}

static void* Second(void* argument) {
  for (sem_wait(&start); !ended; sem_wait(&start)) {
    hasty();
    ++calls;
    sem_post(&done);
  }
  return argument;
}

static void AtProtect(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  sem_post(&start);
  wait_briefly(&done, 200);
  let_through(((ucontext_t*)context)->uc_mcontext.gregs);
}

static int StopAtProtect(void) {
  static const int kProtect = SYS_mprotect;
  return trap_calls(&kProtect, 1, AtProtect);
}

int main(void) {
  pthread_t second;
  if (sem_init(&start, 0, 0) != 0 || sem_init(&done, 0, 0) != 0 ||
      pthread_create(&second, NULL, Second, NULL) != 0 || !StopAtProtect())
    return 2;
  for (int i = 0; i < kSizes; ++i) {
    for (int large = 0; large < kLarges; ++large) kept = malloc(kLarge);
    bytes = kStep * (i + 1);
    kept = malloc(bytes);
  }
  ended = 1;
  sem_post(&start);
  pthread_join(second, NULL);
  return printf("%d\n", calls) < 0;
}
