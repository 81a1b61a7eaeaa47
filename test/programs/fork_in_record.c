// Forks FORKS times in a signal handler, which interrupts malloc and free more often than not. The child goes on in what
// was interrupted, allocates kAfter times more, and ends. Prints how often the parent has allocated; it frees all.
//
//   fork_in_record FORKS [late]
//
// late: all of it happens in a thread that ends, in the second round of its destructors.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kAfter = 300, kBlocks = 64 };

static int wanted;
static volatile sig_atomic_t forks, is_child;
static uint64_t randomness = 88172645463325252u;
static void *blocks[kBlocks];

static uint64_t draw(void) {
  randomness ^= randomness << 13;
  randomness ^= randomness >> 7;
  randomness ^= randomness << 17;
  return randomness;
}

static void wake_me(void) {
  const struct itimerval soon = {{0, 0}, {0, 50 + forks * 7 % 100}};
  setitimer(ITIMER_REAL, &soon, NULL);
}

static void on_alarm(int signal) {
  (void)signal;
  if (is_child || forks == wanted) return;
  const pid_t child = fork();
  if (child < 0) _exit(3);
  is_child = child == 0;
  forks = forks + 1;
  if (!is_child) wake_me();
}

static void left(uint64_t path, int depth);
static void right(uint64_t path, int depth);

static void descend(uint64_t path, int depth) {
  if (depth == 0) {
    void **block = &blocks[path % kBlocks];
    free(*block);
    *block = malloc(1 + path % 3000);
  } else if (path & 1) {
    right(path >> 1, depth - 1);
  } else {
    left(path >> 1, depth - 1);
  }
}

__attribute__((noinline)) static void left(uint64_t path, int depth) {
  descend(path, depth);
  __asm__ volatile("");
}

__attribute__((noinline)) static void right(uint64_t path, int depth) {
  descend(path, depth);
  __asm__ volatile("" ::: "memory");
}

static void run(void) {
  const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  if (sigaction(SIGALRM, &action, NULL) != 0) _exit(2);
  wake_me();
  uint64_t allocations = 0;
  for (; forks < wanted && !is_child; ++allocations) descend(draw() >> 8, 12);
  if (is_child) {
    for (int i = 0; i < kAfter; ++i) descend(draw() >> 8, 12);
    _exit(0);
  }
  // What a child might still spoil.
  for (int i = 0; i < 20000; ++i, ++allocations) descend(draw() >> 8, 12);
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  int status;
  while (wait(&status) > 0) {
    if (status != 0) _exit(1);
  }
  char text[32];
  const int length = snprintf(text, sizeof text, "%llu\n", (unsigned long long)allocations);
  if (write(1, text, (size_t)length) != length) _exit(1);
}

static pthread_key_t key;

static void on_thread_end(void *value) {
  static int round;
  if (++round == 1) {
    pthread_setspecific(key, value);
    return;
  }
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
  run();
}

static void *end(void *value) {
  free(malloc(1));
  pthread_setspecific(key, value);
  return NULL;
}

static void run_late(void) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, NULL);
  pthread_t thread;
  if (pthread_key_create(&key, on_thread_end) != 0 || pthread_create(&thread, NULL, end, &key) != 0) _exit(2);
  pthread_join(thread, NULL);
}

int main(int count, char **arguments) {
  if (count < 2 || count > 3) return 2;
  wanted = atoi(arguments[1]);
  if (count == 2) {
    run();
  } else if (strcmp(arguments[2], "late") == 0) {
    run_late();
  } else {
    return 2;
  }
  return 0;
}
