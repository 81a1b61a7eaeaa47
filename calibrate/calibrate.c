/* calibrate: what the malloc of this process costs, in ns of CPU time.
 *
 * One line each, PATTERN FUNCTION SIZE NANOSECONDS:
 *   hot malloc 64 9.12       malloc and free of one block, again and again
 *   mixed malloc 64 31.40    the same in a program that does other things: a random one of many blocks is replaced
 *                            while the program goes over memory of its own
 *   hot calloc 64 11.02      calloc and free
 *   hot realloc 64 14.80     realloc to twice the size that cannot stay in place, less the malloc and free in it
 *   stay realloc 64 4.30     realloc to about the size that the block has, which stays in place
 * The least of several rounds, less what the same code takes without those calls. Whoever preloads another malloc, or
 * one that records, measures that one. Takes about a tenth of a second. Writes only to stdout. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  kRounds = 12,
  kPaths = 8,
  kBlocks = 4096,
  kOthers = 1024,
  kBlockBytes = 8 << 20,
  kOwnBytes = 1 << 20,
  kTouched = 12,
  kLine = 64
};
enum {
  kMostMoved = 8192,
  kSteps = 8,
  kFewWays = 64,
  kManyWays = 8192,
  kDepth = 8
}; /* beyond, realloc costs what copying does */

struct state {
  uint32_t random;
  size_t size;
  void** blocks; /* of the mixed pattern */
  size_t count;
  void** others;  /* what the rest of the program has allocated */
  char* own;      /* the program's memory */
  uint32_t turn;  /* of the loop */
  uint32_t fresh; /* ways gone */
  unsigned sum;
};

static uint32_t next(struct state* s) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 17;
  return s->random ^= s->random << 5;
}

typedef void operation(struct state* s);
typedef void way(struct state* s, operation* o); /* to the operation: what of the stack changes */

/* The compiler must not see that a block serves nothing, and a write makes it one that serves. */
static void* used(void* block) {
  if (!block) exit(1);
  *(volatile char*)block = 1;
  __asm__ volatile("" : "+r"(block)::"memory");
  return block;
}

static void nothing(struct state* s) { __asm__ volatile("" ::"r"(s) : "memory"); }

static void hot_malloc(struct state* s) { free(used(malloc(s->size))); }

static void hot_calloc(struct state* s) { free(used(calloc(1, s->size))); }

/* The block in between takes the place into which the first one would grow. */
static void hot_realloc(struct state* s) {
  void* block = used(malloc(s->size));
  void* between = used(malloc(s->size));
  block = used(realloc(block, 2 * s->size));
  free(between);
  free(block);
}

static void hot_realloc_less(struct state* s) {
  void* block = used(malloc(s->size));
  void* between = used(malloc(s->size));
  free(between);
  free(block);
}

static void stay_realloc(struct state* s) {
  void** slot = s->blocks;
  *slot = used(realloc(*slot, s->size - s->turn % 8));
}

static void stay_nothing(struct state* s) {
  size_t size = s->size - s->turn % 8;
  __asm__ volatile("" : : "r"(size) : "memory");
  used(*s->blocks);
}

static void go_over(struct state* s) {
  for (int i = 0; i < kTouched; i++) s->sum += (unsigned)s->own[next(s) % (kOwnBytes / kLine) * kLine]++;
}

/* What the rest of the program allocates: blocks of 16 to 8192 bytes, small ones more often. */
static void others(struct state* s) {
  void** slot = &s->others[next(s) % kOthers];
  const size_t size = (size_t)16 << next(s) % 9;
  free(*slot);
  *slot = used(malloc(size + next(s) % size));
}

/* Sizes differ, as those of strings and arrays do: from half of the size to one and a half. */
static void mixed_malloc(struct state* s) {
  go_over(s);
  others(s);
  void** slot = &s->blocks[next(s) % s->count];
  size_t size = s->size / 2 + next(s) % s->size;
  free(*slot);
  *slot = used(malloc(size));
}

static void mixed_nothing(struct state* s) {
  go_over(s);
  others(s);
  void** slot = &s->blocks[next(s) % s->count];
  size_t size = s->size / 2 + next(s) % s->size;
  __asm__ volatile("" ::"r"(size), "r"(slot) : "memory");
}

/* Stacks of a loop: some depth, the same at the bottom, and the same ones at the top again and again. */
#define PATH(n)                                                                  \
  static __attribute__((noinline)) void path##n(struct state* s, operation* o) { \
    o(s);                                                                        \
    __asm__ volatile("" ::: "memory");                                           \
  }                                                                              \
  struct state
PATH(0);
PATH(1);
PATH(2);
PATH(3);
PATH(4);
PATH(5);
PATH(6);
PATH(7);

static void (*const kPath[kPaths])(struct state*, operation*) = {path0, path1, path2, path3,
                                                                 path4, path5, path6, path7};

static __attribute__((noinline)) void descend(struct state* s, operation* o, int depth) {
  if (depth > 0)
    descend(s, o, depth - 1);
  else
    kPath[s->turn++ % kPaths](s, o);
  __asm__ volatile("" ::: "memory");
}

/* Ways of kSteps calls, each through one of kPaths functions. */
typedef void step(struct state* s, operation* o, int depth);
static step step0, step1, step2, step3, step4, step5, step6, step7;
static step* const kStep[kPaths] = {step0, step1, step2, step3, step4, step5, step6, step7};
#define STEP(n)                                                   \
  static void step##n(struct state* s, operation* o, int depth) { \
    if (depth > 0)                                                \
      kStep[next(s) % kPaths](s, o, depth - 1);                   \
    else                                                          \
      o(s);                                                       \
    __asm__ volatile("" ::: "memory");                            \
  }                                                               \
  struct state
STEP(0);
STEP(1);
STEP(2);
STEP(3);
STEP(4);
STEP(5);
STEP(6);
STEP(7);

static void go_way(struct state* s, operation* o, uint32_t number) {
  const uint32_t random = s->random;
  s->random = (number + 1) * 2654435761u;
  step0(s, o, kSteps);
  s->random = random;
}

/* A way that was not gone before, one of a few, one of many: of those that were fresh. */
static void go_fresh(struct state* s, operation* o) { go_way(s, o, s->fresh++); }
static void go_few(struct state* s, operation* o) { go_way(s, o, next(s) % kFewWays); }
static void go_many(struct state* s, operation* o) { go_way(s, o, next(s) % kManyWays); }

static void go_again(struct state* s, operation* o) { descend(s, o, 2); }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double once(struct state* s, way* go, operation* o, int calls) {
  const double begin = now();
  for (int i = 0; i < calls; i++) go(s, o);
  return (now() - begin) / calls;
}

static __attribute__((noinline)) double least(struct state* s, way* go, operation* with, operation* without,
                                              int calls, int depth) {
  if (depth > 0) {
    const double deeper = least(s, go, with, without, calls, depth - 1);
    __asm__ volatile("" ::: "memory");
    return deeper;
  }
  double most = 1e18, base = 1e18;
  for (int round = 0; round < kRounds; round++) {
    const double a = once(s, go, with, calls), b = once(s, go, without, calls);
    if (a < most) most = a;
    if (b < base) base = b;
  }
  return most > base ? most - base : 0;
}

static void print(const char* pattern, const char* function, const struct state* s, double ns) {
  printf("%s %s %zu %.2f\n", pattern, function, s->size, ns);
}

static void measure(struct state* s) {
  const int calls = s->size <= kMostMoved ? 1000 : 100;
  print("hot", "malloc", s, least(s, go_again, hot_malloc, nothing, calls, kDepth));
  print("hot", "calloc", s, least(s, go_again, hot_calloc, nothing, calls / 2, kDepth));
  if (s->size <= kMostMoved)
    print("hot", "realloc", s, least(s, go_again, hot_realloc, hot_realloc_less, calls / 2, kDepth));

  s->count = kBlockBytes / s->size < kBlocks ? kBlockBytes / s->size : kBlocks;
  for (size_t i = 0; i < s->count; i++) s->blocks[i] = used(malloc(s->size / 2 + next(s) % s->size));
  print("mixed", "malloc", s, least(s, go_again, mixed_malloc, mixed_nothing, calls, kDepth));
  for (size_t i = 0; i < s->count; i++) free(s->blocks[i]);
}

int main(void) {
  static const size_t sizes[] = {16, 64, 256, 1024, 8192, 65536};
  struct state s = {.random = 2463534242u};
  static void* blocks[kBlocks];
  static void* others[kOthers];
  static char own[kOwnBytes];
  s.blocks = blocks;
  s.others = others;
  s.own = own;
  memset(own, 1, sizeof own);
  memset(blocks, 0, sizeof blocks);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    s.size = sizes[i];
    measure(&s);
  }
  s.size = 64;
  *s.blocks = used(malloc(s.size));
  print("stay", "realloc", &s, least(&s, go_again, stay_realloc, stay_nothing, 1000, kDepth));
  print("fresh", "malloc", &s, least(&s, go_fresh, hot_malloc, nothing, kManyWays / kRounds, kDepth));
  print("few", "malloc", &s, least(&s, go_few, hot_malloc, nothing, 1000, kDepth));
  print("many", "malloc", &s, least(&s, go_many, hot_malloc, nothing, 1000, kDepth));
  return s.sum == 1 && fflush(stdout) != 0;
}
