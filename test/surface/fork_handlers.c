// fork_handlers FORKS: handlers of pthread_atfork that were there before any malloc allocate, while other threads do. They run
// within those of malloc with libmallow.a, so while its locks are taken; with libmallow.so malloc's run within them, so that they
// may wait for a mutex under which others allocate.
#include <pthread.h>
#include <sys/wait.h>

#include "check.h"

enum { kThreads = 4, kBlocks = 200 };
static volatile int stop;
static int prepared, continued;

static void Allocate(void) {
  void* blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    blocks[i] = malloc((size_t)i * i * 10 + 1);
    CHECK(blocks[i] != NULL);
    memset(blocks[i], 1, 1);
  }
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
}

// In a program that has libmallow.a the mutex is nobody's while it allocates.
#ifdef MALLOW_LINKED
static void Enter(void) {}
static void Leave(void) {}
#else
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void Enter(void) { CHECK(pthread_mutex_lock(&mutex) == 0); }
static void Leave(void) { CHECK(pthread_mutex_unlock(&mutex) == 0); }
#endif

static void Prepare(void) {
  Enter();
  ++prepared;
  Allocate();
}

static void Continue(void) {
  ++continued;
  Allocate();
  Leave();
}

// Before the constructors of libraries.
static void Register(void) { CHECK(pthread_atfork(Prepare, Continue, Continue) == 0); }
__attribute__((section(".preinit_array"), used)) static void (*const register_early)(void) = Register;

static void* AllocateOn(void* nothing) {
  while (!stop) {
    Enter();
    Allocate();
    Leave();
  }
  return nothing;
}

static void* AllocateOnce(void* nothing) {
  Allocate();
  return nothing;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int forks = atoi(argv[1]);
  alarm(100);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, AllocateOn, NULL) == 0);
  for (int i = 1; i <= forks; ++i) {
    const pid_t child = fork();
    CHECK(child >= 0 && prepared == i && continued == i);
    if (child == 0) {
      alarm(100);
      Allocate();
      pthread_t thread;
      CHECK(pthread_create(&thread, NULL, AllocateOnce, NULL) == 0 && pthread_join(thread, NULL) == 0);
      _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = 1;
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  return 0;
}
