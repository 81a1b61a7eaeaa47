// Forks a child in which threads are the first to allocate: the one that forked comes after them, or at the same time.
//
//   child_threads THREADS
//
// That can be where only samples are recorded, and starting a thread is none. Each thread makes and frees kBlocks blocks,
// and so does the parent before, without threads.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBlocks = 20000, kMost = 16 };

static atomic_int ready, others_first;
static int threads;

__attribute__((noinline)) static void work(void) {
  for (int i = 0; i < kBlocks; ++i) free(malloc((size_t)(i % 500)));
}

static void *run(void *unused) {
  (void)unused;
  atomic_fetch_add(&ready, 1);
  while (atomic_load(&ready) < threads) continue;
  work();
  atomic_store(&others_first, 1);
  return NULL;
}

static void run_all(int at_once) {
  pthread_t all[kMost];
  ready = 0;
  others_first = at_once;
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&all[i], NULL, run, NULL) != 0) _exit(2);
  }
  while (atomic_load(&ready) < threads || !atomic_load(&others_first)) continue;
  work();
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
}

int main(int argc, char **argv) {
  threads = argc == 2 ? atoi(argv[1]) : 0;
  if (threads < 1 || threads > kMost) return 2;
  work();
  for (int at_once = 0; at_once < 2; ++at_once) {
    const pid_t child = fork();
    if (child == 0) {
      run_all(at_once);
      _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  return 0;
}
