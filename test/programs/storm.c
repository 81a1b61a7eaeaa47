// Forks 60 times while four threads allocate 160,000 blocks each; every child makes 50 allocations, starts a thread that
// makes 30, and frees a block that it inherited.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void in_thread(unsigned random) {
  void *blocks[8];
  for (int i = 0; i < 8; i++) blocks[i] = malloc(1 + (random >> i) % 5000);
  for (int i = 0; i < 8; i++) free(blocks[i]);
}

static void *work(void *seed) {
  unsigned random = (unsigned)(size_t)seed;
  for (int round = 0; round < 20000; round++) {
    random = random * 1664525u + 1013904223u;
    in_thread(random);
  }
  return NULL;
}

__attribute__((noinline)) static void in_child(int blocks) {
  for (int i = 0; i < blocks; i++) free(malloc(90));
}

static void *work_of_child(void *unused) {
  in_child(30);
  return unused;
}

static int be_child(void *inherited) {
  pthread_t thread;
  in_child(50);
  if (pthread_create(&thread, NULL, work_of_child, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  free(inherited);
  return 0;
}

int main(void) {
  void *inherited = malloc(70);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    if (pthread_create(&threads[i], NULL, work, (void *)(size_t)(i + 1)) != 0) return 1;
  for (int i = 0; i < 60; i++) {
    pid_t child = fork();
    if (child == 0) _exit(be_child(inherited));
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  free(inherited);
  return 0;
}
