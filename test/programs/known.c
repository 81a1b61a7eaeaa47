// Every function of malloc.h with counts known by construction, in N threads (argument 1, default 1).
//
// A line that allocates says what one thread allocates there:
//   expect KIND calls=N bytes=N [live=N]   `live`: blocks that are never freed
// Lines that release or fail say `frees N`, `free_nulls N`, `failed N`. The driver sums them up.
// peak 1024000+3000
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define SMALL 100
#define LARGE 1000

static volatile size_t too_large = PTRDIFF_MAX;
static pthread_barrier_t at_peak;
static void *volatile leaked;

static void check(int condition) {
  if (!condition) abort();
}

__attribute__((noinline)) static void use_malloc(void) {
  void *blocks[SMALL];
  for (int i = 0; i < SMALL; i++) {
    blocks[i] = malloc(24);  // expect mallocs calls=100 bytes=2400
    memset(blocks[i], i, 24);
  }
  for (int i = 0; i < SMALL; i++) {
    free(blocks[i]);  // frees 100
  }
  void *empty = malloc(0);  // expect mallocs calls=1 bytes=0
  check(empty != NULL);
  free(empty);  // frees 1
}

__attribute__((noinline)) static void use_calloc(void) {
  for (int i = 0; i < 50; i++) {
    char *block = calloc(3, 16);  // expect callocs calls=50 bytes=2400
    for (int at = 0; at < 48; at++) check(block[at] == 0);
    memset(block, 0xff, 48);
    free(block);  // frees 50
  }
}

__attribute__((noinline)) static void use_realloc(void) {
  char *block = realloc(NULL, 10);  // expect reallocs calls=1 bytes=10
  memcpy(block, "mallow", 7);
  int moved = 0;
  for (size_t bytes = 20; bytes <= 10240; bytes *= 2) {
    char *old = block;
    block = realloc(block, bytes);  // expect reallocs calls=10 bytes=20460
    moved += block != old;
  }
  check(moved > 0 && strcmp(block, "mallow") == 0);
  for (size_t bytes = 5000; bytes >= 1000; bytes -= 1000) {
    block = realloc(block, bytes);  // expect reallocs calls=5 bytes=15000
  }
  block = realloc(block, 1000);  // expect reallocs calls=1 bytes=1000
  check(strcmp(block, "mallow") == 0);
  block = reallocarray(block, 30, 30);  // expect reallocs calls=1 bytes=900
  void *ended = realloc(block, 0);      // frees 1
  check(ended == NULL);
  block = reallocarray(NULL, 5, 5);  // expect reallocs calls=1 bytes=25
  free(block);                       // frees 1
}

__attribute__((noinline)) static void use_strings(void) {
  for (int i = 0; i < 30; i++) {
    char *whole = strdup("a string");     // expect strdups calls=30 bytes=270
    char *part = strndup("a string", 3);  // expect strdups calls=30 bytes=120
    char *short_one = strndup("ab", 30);  // expect strdups calls=30 bytes=90
    wchar_t *wide = wcsdup(L"wide");      // expect wcsdups calls=30 bytes=600
    check(strcmp(whole, "a string") == 0 && strcmp(part, "a s") == 0 && strcmp(short_one, "ab") == 0);
    check(wcscmp(wide, L"wide") == 0);
    free(whole);      // frees 30
    free(part);       // frees 30
    free(short_one);  // frees 30
    free(wide);       // frees 30
  }
}

__attribute__((noinline)) static void use_aligned(void) {
  for (size_t alignment = 16; alignment <= 65536; alignment *= 2) {
    void *first = memalign(alignment, 100);        // expect aligned calls=13 bytes=1300
    void *second = aligned_alloc(alignment, 200);  // expect aligned calls=13 bytes=2600
    void *third = NULL;
    check(posix_memalign(&third, alignment, 300) == 0);  // expect aligned calls=13 bytes=3900
    check((((uintptr_t)first | (uintptr_t)second | (uintptr_t)third) & (alignment - 1)) == 0);
    free(first);   // frees 13
    free(second);  // frees 13
    free(third);   // frees 13
  }
  for (int i = 0; i < 4; i++) {
    void *page = valloc(10);    // expect aligned calls=4 bytes=40
    void *pages = pvalloc(10);  // expect aligned calls=4 bytes=40
    check((((uintptr_t)page | (uintptr_t)pages) & 4095) == 0);
    free(page);   // frees 4
    free(pages);  // frees 4
  }
}

__attribute__((noinline)) static void fail(void) {
  void *block = malloc(40);  // expect mallocs calls=1 bytes=40
  void *result = NULL;
  check(malloc(too_large) == NULL);                             // failed 1
  check(calloc(too_large, 4) == NULL);                          // failed 1
  check(realloc(block, too_large) == NULL);                     // failed 1
  check(reallocarray(block, too_large, 8) == NULL);             // failed 1
  check(memalign(64, too_large) == NULL);                       // failed 1
  check(aligned_alloc(64, too_large) == NULL);                  // failed 1
  check(valloc(too_large) == NULL);                             // failed 1
  check(pvalloc(too_large) == NULL);                            // failed 1
  check(posix_memalign(&result, 64, too_large) != 0);           // failed 1
  check(posix_memalign(&result, 3, 8) != 0 && result == NULL);  // failed 1
  free(block);                                                  // frees 1
  for (int i = 0; i < 7; i++) {
    free(NULL);  // free_nulls 7
  }
}

__attribute__((noinline)) static void leak(void) {
  for (int i = 0; i < 3; i++) {
    leaked = malloc(1000);  // expect mallocs calls=3 bytes=3000 live=3
  }
}

__attribute__((noinline)) static void rise_to_peak(void) {
  static __thread void *blocks[LARGE];
  for (int i = 0; i < LARGE; i++) {
    blocks[i] = malloc(1024);  // expect mallocs calls=1000 bytes=1024000
  }
  pthread_barrier_wait(&at_peak);
  for (int i = 0; i < LARGE; i++) {
    free(blocks[i]);  // frees 1000
  }
}

static void *work(void *unused) {
  (void)unused;
  use_malloc();
  use_calloc();
  use_realloc();
  use_strings();
  use_aligned();
  fail();
  leak();
  rise_to_peak();
  return NULL;
}

int main(int count, char **arguments) {
  int threads = count > 1 ? atoi(arguments[1]) : 1;
  pthread_barrier_init(&at_peak, NULL, (unsigned)threads);
  if (threads == 1) {
    work(NULL);
    return 0;
  }
  pthread_t thread[64];
  for (int i = 0; i < threads; i++) check(pthread_create(&thread[i], NULL, work, NULL) == 0);
  for (int i = 0; i < threads; i++) check(pthread_join(thread[i], NULL) == 0);
  return 0;
}
