// Allocates and frees on ever new stacks, and publishes after each returned call, by a plain store into a
// shared file, how many calls have returned: what a recording must know at least, whatever ends the process.
//
//   victim PAGE PROCESSES THREADS ENDING CALLS SEED
//
// PAGE: the shared file, an array of struct Slot, one per thread. PROCESSES: how many fork children do the
// work; 0: the process itself. ENDING: what each working process does after CALLS calls: exit, _exit, abort,
// segv, exec, return, or none: goes on until it is killed.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 64

struct Slot {
  volatile uint64_t allocations;
  volatile uint64_t frees;
  volatile uint64_t pid;
  uint64_t unused[5];
};

struct Work {
  struct Slot *slot;
  uint64_t random;
  void *blocks[BLOCKS];
};

static struct Work works[64];
static struct Slot *slots;
static int threads;
static const char *ending;
static uint64_t calls;

static uint64_t draw(struct Work *work) {
  work->random ^= work->random << 13;
  work->random ^= work->random >> 7;
  work->random ^= work->random << 17;
  return work->random;
}

static void allocated(struct Work *work) { work->slot->allocations = work->slot->allocations + 1; }

__attribute__((noinline)) static void call(struct Work *work) {
  uint64_t random = draw(work);
  void **block = &work->blocks[random % BLOCKS];
  size_t bytes = 1 + (random >> 8) % 700;
  unsigned kind = (random >> 32) % 8;
  if (*block && kind < 5) {
    free(*block);
    work->slot->frees = work->slot->frees + 1;
    *block = NULL;
    return;
  }
  if (*block)
    *block = realloc(*block, bytes);
  else if (kind == 0)
    *block = calloc(2, bytes);
  else if (kind == 1)
    *block = strdup("victim");
  else if (kind == 2)
    *block = aligned_alloc(64, 64);
  else
    *block = malloc(bytes);
  allocated(work);
}

static void left(struct Work *work, uint64_t path, int depth);
static void right(struct Work *work, uint64_t path, int depth);

static void descend(struct Work *work, uint64_t path, int depth) {
  if (depth == 0)
    call(work);
  else if (path & 1)
    right(work, path >> 1, depth - 1);
  else
    left(work, path >> 1, depth - 1);
}

__attribute__((noinline)) static void left(struct Work *work, uint64_t path, int depth) {
  descend(work, path, depth);
  __asm__ volatile("");
}

__attribute__((noinline)) static void right(struct Work *work, uint64_t path, int depth) {
  descend(work, path, depth);
  __asm__ volatile("" ::: "memory");
}

static void step(struct Work *work) {
  uint64_t random = draw(work);
  descend(work, random, (int)((random >> 32) % 10));
}

static uint64_t returned(const struct Slot *slot) { return slot->allocations + slot->frees; }

__attribute__((noinline)) static void after_exec(void) {
  for (int i = 0; i < 10; i++) free(malloc(33));
}

static void end(char **arguments) {
  if (!strcmp(ending, "exit")) exit(0);
  if (!strcmp(ending, "_exit")) _exit(0);
  if (!strcmp(ending, "abort")) abort();
  if (!strcmp(ending, "segv")) raise(SIGSEGV);
  if (!strcmp(ending, "exec")) execl("/proc/self/exe", arguments[0], "after", (char *)NULL);
}

__attribute__((noreturn)) static void *run(void *of) {
  struct Work *work = of;
  for (;;) step(work);
}

// The work of one process, which uses the slots from `first` on.
static void work_here(int first, uint64_t seed, char **arguments) {
  for (int i = 0; i < threads; i++) {
    works[i].slot = &slots[first + i];
    works[i].random = seed * 0x9e3779b97f4a7c15u + (uint64_t)(first + i + 1);
    works[i].slot->pid = (uint64_t)getpid();
  }
  int forever = !strcmp(ending, "none");
  if (threads == 1) {
    while (forever || returned(works[0].slot) < calls) step(&works[0]);
    end(arguments);
    return;
  }
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &works[i]) != 0) _exit(3);
  }
  for (;;) {
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++) sum += returned(works[i].slot);
    if (!forever && sum >= calls) break;
    usleep(100);
  }
  end(arguments);
}

int main(int count, char **arguments) {
  if (count == 2) {
    after_exec();
    _exit(0);
  }
  if (count != 7) return 2;
  alarm(600);  // never stay behind
  int processes = atoi(arguments[2]);
  threads = atoi(arguments[3]);
  ending = arguments[4];
  calls = strtoull(arguments[5], NULL, 10);
  uint64_t seed = strtoull(arguments[6], NULL, 10);
  int workers = processes ? processes : 1;
  int file = open(arguments[1], O_RDWR | O_CLOEXEC);
  if (file < 0) return 2;
  slots = mmap(NULL, sizeof(struct Slot) * (size_t)(workers * threads), PROT_READ | PROT_WRITE, MAP_SHARED,
               file, 0);
  close(file);
  if (slots == MAP_FAILED) return 2;
  if (!processes) {
    work_here(0, seed, arguments);
    return 0;
  }
  for (int i = 0; i < processes; i++) {
    pid_t child = fork();
    if (child < 0) return 3;
    if (child == 0) {
      alarm(600);
      work_here(i * threads, seed, arguments);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) {
  }
  return 0;
}
