// fork_storm FORKS THREADS [signals]: so many threads allocate, and fork now and then, and the main thread forks as
// well; with `signals`, handlers make them fork in the middle of malloc and free too, which in a program of several
// threads is more than glibc's own malloc can do. Up to eight children live at once. Each goes on where its
// parent was, allocates, makes a thread that does, and ends. None may hang, and none may find the heap damaged.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/wait.h>

#include "../surface/check.h"

enum { kMostThreads = 16, kMostChildren = 8, kSlots = 64, kChildSeconds = 100 };

static int wanted;
static atomic_int forks, children, stop;
static volatile sig_atomic_t is_child;

struct Block {
  unsigned char* p;
  size_t bytes;
};

static unsigned Next(unsigned* random) { return *random = *random * 1664525 + 1013904223; }

// What is in a block shows whose it is: one that two threads hold would lose it.
static void Churn(struct Block* blocks, unsigned* random, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    struct Block* block = &blocks[Next(random) >> 26];
    if (block->p != NULL) {
      const unsigned char mark = (uintptr_t)block->p >> 4;
      CHECK(block->p[0] == mark && block->p[block->bytes - 1] == mark);
    }
    const unsigned r = Next(random);
    block->bytes = ((size_t)1 << (4 + (r >> 20) % (r % 64 == 0 ? 16 : 10))) - (r >> 12) % 8;
    if (r & 1) {
      block->p = realloc(block->p, block->bytes);
    } else {
      free(block->p);
      block->p = malloc(block->bytes);
    }
    CHECK(block->p != NULL);
    block->p[0] = block->p[block->bytes - 1] = (uintptr_t)block->p >> 4;
  }
}

static void* ChurnOnce(void* unused) {
  (void)unused;
  struct Block blocks[kSlots] = {{0}};
  unsigned random = 5;
  Churn(blocks, &random, 200);
  for (int i = 0; i < kSlots; ++i) free(blocks[i].p);
  return NULL;
}

static void EndChild(struct Block* blocks, unsigned* random) {
  Churn(blocks, random, 300);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, ChurnOnce, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  _exit(0);
}

static void Fork(void) {
  if (atomic_fetch_add(&children, 1) >= kMostChildren || atomic_load(&forks) >= wanted) {
    atomic_fetch_sub(&children, 1);
    return;
  }
  atomic_fetch_add(&forks, 1);
  const pid_t child = fork();
  if (child < 0) _exit(3);
  if (child == 0) {
    is_child = 1;
    alarm(kChildSeconds);
  }
}

// The child goes on in what it interrupted.
static void OnSignal(int signal) {
  (void)signal;
  const int saved = errno;
  if (!is_child) Fork();
  errno = saved;
}

// fork itself is not to be interrupted by a handler that forks.
static void ForkUninterrupted(void) {
  sigset_t mine, before;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mine, &before);
  Fork();
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void* Allocate(void* seed) {
  static __thread struct Block blocks[kSlots];
  unsigned random = (unsigned)(size_t)seed;
  while (!atomic_load(&stop)) {
    Churn(blocks, &random, 50);
    if (Next(&random) >> 25 == 0) ForkUninterrupted();
    if (is_child) EndChild(blocks, &random);
  }
  for (int i = 0; i < kSlots; ++i) free(blocks[i].p);
  return NULL;
}

// Returns how many children have ended; each well.
static int Reap(void) {
  int ended = 0, status;
  pid_t child;
  while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
    if (status != 0) {
      fprintf(stderr, "child %d: %s (status %#x)\n", child,
              WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "fails", status);
      _exit(1);
    }
    atomic_fetch_sub(&children, 1);
    ++ended;
  }
  return ended;
}

int main(int argc, char** argv) {
  CHECK(argc == 3 || (argc == 4 && strcmp(argv[3], "signals") == 0));
  wanted = atoi(argv[1]);
  const int count = atoi(argv[2]);
  CHECK(count > 0 && count <= kMostThreads);
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  pthread_t threads[kMostThreads];
  for (size_t i = 0; i < (size_t)count; ++i)
    CHECK(pthread_create(&threads[i], NULL, Allocate, (void*)(i + 1)) == 0);
  struct Block blocks[kSlots] = {{0}};
  unsigned random = 99;
  for (int ended = 0; ended < wanted;) {
    Churn(blocks, &random, 20);
    if (argc == 4) CHECK(pthread_kill(threads[Next(&random) % count], SIGUSR1) == 0);
    if (Next(&random) >> 29 == 0) ForkUninterrupted();
    if (is_child) EndChild(blocks, &random);
    ended += Reap();
    usleep(100);
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < count; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < kSlots; ++i) free(blocks[i].p);
  return 0;
}
