// 64 threads on the smallest stacks there are, each with 150 allocations of every kind, and 102 more in a handler on the
// smallest signal stack.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static void allocate(void) {
  void *block = malloc(100);
  block = realloc(block, 3000);
  free(block);
  free(aligned_alloc(64, 64));
}

static void *work(void *unused) {
  for (int i = 0; i < 50; i++) allocate();
  return unused;
}

static void in_handler(int signal_number) {
  (void)signal_number;
  allocate();
}

int main(void) {
  pthread_attr_t smallest;
  pthread_attr_init(&smallest);
  if (pthread_attr_setstacksize(&smallest, (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0) return 1;
  for (int round = 0; round < 8; round++) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
      if (pthread_create(&threads[i], &smallest, work, NULL) != 0) return 1;
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  }
  // What the kernel needs, and 2 KiB for the handler and what it calls.
  size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 2048;
  stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
  struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};
  if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 1;
  memset(stack.ss_sp, 0x5a, bytes);
  for (int i = 0; i < 34; i++) raise(SIGUSR1);
  return 0;
}
