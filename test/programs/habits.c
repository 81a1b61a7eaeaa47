// What is usual of a stack, by construction: runs, partners, sizes, lifetimes, who frees, reallocs, failures, times.
//
//   habits THREADS        each thread does the same, all at the same time; 0: the main thread alone
//   habits fork           the process and a child of it
//   habits often          many calls, of which the recorder looks at some
//
// A comment "site NAME" marks the line that allocates. Prints what only the run can tell: blocks moved by realloc,
// bytes copied, and usable bytes beyond those asked for.
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { kPairs = 20, kMostThreads = 16 };

static struct { unsigned long moved, copied, waste; } seen[kMostThreads];

static void Pause(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

NOINLINE static void ReleasePair(void *node, void *key) {
  free(node);
  free(key);
}

// Node, key, node, key, ... and released so.
NOINLINE static void Pairs(int thread) {
  void *nodes[kPairs], *keys[kPairs];
  for (int i = 0; i < kPairs; i++) {
    nodes[i] = malloc(41);  // site node
    keys[i] = malloc(24);   // site key
    seen[thread].waste += malloc_usable_size(nodes[i]) - 41;
  }
  for (int i = 0; i < kPairs; i++) ReleasePair(nodes[i], keys[i]);
}

NOINLINE static void *One(void) {
  return malloc(64);  // site one
}

// 30 in a row, another, 2 in a row.
NOINLINE static void Runs(void) {
  void *blocks[33];
  for (int i = 0; i < 33; i++) {
    if (i == 30) {
      blocks[i] = malloc(8);  // site between
    } else {
      blocks[i] = One();
    }
  }
  for (int i = 0; i < 33; i++) free(blocks[i]);
}

// 24 of 100 bytes, 8 of other sizes.
NOINLINE static void Sizes(void) {
  for (int i = 0; i < 32; i++) {
    const size_t bytes = i % 4 == 3 ? 200 + (size_t)i : 100;
    free(malloc(bytes));  // site sizes
  }
}

// One block that grows ten times and shrinks three times, one that a realloc makes.
NOINLINE static void Chain(int thread) {
  char *block = malloc(16);  // site start
  size_t bytes = 16;
  for (int i = 0; i < 13; i++) {
    size_t wanted = i < 10 ? bytes * 2 : bytes / 4;
    __asm__ volatile("" : "+r"(wanted));  // one call for both halves
    const uintptr_t before = (uintptr_t)block;
    block = realloc(block, wanted);  // site chain
    if ((uintptr_t)block != before) {
      seen[thread].moved++;
      seen[thread].copied += wanted < bytes ? wanted : bytes;
    }
    bytes = wanted;
  }
  free(block);
  free(realloc(NULL, 10));  // site fresh
}

// Ten blocks that die at the next event, four at the seventh, one at the 40th.
NOINLINE static void Lives(void) {
  void *others[39];
  for (int i = 0; i < 10; i++) free(malloc(1));  // site at_once
  for (int i = 0; i < 4; i++) {
    void *block = malloc(2);  // site seventh
    for (int k = 0; k < 6; k++) others[k] = malloc(3);
    free(block);
    for (int k = 0; k < 6; k++) free(others[k]);
  }
  void *block = malloc(4);  // site fortieth
  for (int k = 0; k < 39; k++) others[k] = malloc(5);
  free(block);
  for (int k = 0; k < 39; k++) free(others[k]);
}

NOINLINE static void Often(void *block) {
  free(block);
  __asm__ volatile("");
}

NOINLINE static void Seldom(void *block) {
  free(block);
  __asm__ volatile("nop");
}

NOINLINE static void Freed(void) {
  for (int i = 0; i < 28; i++) {
    void *block = malloc(12);  // site freed
    if (i % 7 < 5) {
      Often(block);
    } else {
      Seldom(block);
    }
  }
}

NOINLINE static void Fails(void) {
  for (int i = 0; i < 5; i++) {
    if (malloc((size_t)1 << 62) != NULL) abort();  // site fails
  }
}

NOINLINE static void Nothing(void) {
  for (int i = 0; i < 7; i++) free(NULL);  // null seven
  for (int i = 0; i < 3; i++) free(NULL);  // null three
}

NOINLINE static void Times(void) {
  free(malloc(6));  // site early
  Pause(100);
  void *block = malloc(7);  // site late
  Pause(100);
  free(block);
}

static void Work(int thread) {
  Pairs(thread);
  Runs();
  Sizes();
  Chain(thread);
  Lives();
  Freed();
  Fails();
  Nothing();
  Times();
}

static pthread_barrier_t all_there;

static void *Thread(void *argument) {
  pthread_barrier_wait(&all_there);
  Work((int)(intptr_t)argument);
  // None ends, and leaves its place to another, before all have begun.
  pthread_barrier_wait(&all_there);
  return NULL;
}

// 70,000 times the same, with sizes of which seven in ten are equal, released by turns, and one long row.
static void WorkOften(void) {
  for (int i = 0; i < 70000; i++) {
    void *first = malloc(i % 10 < 7 ? 50 : 300 + (size_t)(i % 10));  // site first
    void *second = malloc(60);                                       // site second
    free(second);
    free(first);
  }
  for (int i = 0; i < 1000; i++) free(malloc(70));  // site row
  free(malloc(80));
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  if (strcmp(arguments[1], "often") == 0) {
    WorkOften();
    return 0;
  }
  const int threads = atoi(arguments[1]);
  if (threads == 0) {
    pid_t child = strcmp(arguments[1], "fork") == 0 ? fork() : 1;
    Work(child == 0);
    if (child == 0) {
      printf("%lu %lu %lu\n", seen[1].moved, seen[1].copied, seen[1].waste);
      fflush(stdout);
      _exit(0);
    }
    if (child > 1) waitpid(child, NULL, 0);
    printf("%lu %lu %lu\n", seen[0].moved, seen[0].copied, seen[0].waste);
    return 0;
  }
  pthread_t ids[kMostThreads];
  pthread_barrier_init(&all_there, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, Thread, (void *)(intptr_t)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; i++) printf("%lu %lu %lu\n", seen[i].moved, seen[i].copied, seen[i].waste);
  return 0;
}
