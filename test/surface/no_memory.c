// no_memory WAY: the address space is used up (RLIMIT_AS). Every call says ENOMEM, and after a free the
// program goes on. WAY: big, small, rising, shrinking, threads.
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "check.h"

enum { kLimit = 1 << 29 };

static void* Allocate(void* bytes) {
  for (int i = 0; i < 1000; ++i) {
    void* p = malloc((size_t)bytes);
    if (p != NULL) memset(p, 1, (size_t)bytes);
    free(p);
  }
  return NULL;
}

// A list through the blocks themselves, which takes no memory beside them. Returns its length.
static size_t Exhaust(void** list, size_t bytes) {
  size_t count = 0;
  for (;;) {
    errno = 0;
    void** p = malloc(bytes);
    if (p == NULL) break;
    *p = *list;
    *list = p;
    ++count;
  }
  CHECK(errno == ENOMEM);
  return count;
}

static void Release(void** list) {
  while (*list != NULL) {
    void* next = **(void***)list;
    free(*list);
    *list = next;
  }
}

static void ExhaustTwice(size_t bytes) {
  void* list = NULL;
  const size_t first = Exhaust(&list, bytes);
  CHECK(first * bytes > kLimit / 2);
  errno = 0;
  CHECK(calloc(1, 64 << 20) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(realloc(list, 64 << 20) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(memalign(4096, 64 << 20) == NULL && errno == ENOMEM);
  Release(&list);
  const size_t second = Exhaust(&list, bytes);
  CHECK(second >= first - first / 8);
  Release(&list);
  // Other sizes than before find room too.
  void* large = malloc(1 << 20);
  CHECK(large != NULL);
  free(large);
}

static size_t LongestOf(size_t bytes) {
  size_t longest = 0;
  for (; bytes < kLimit; bytes += bytes / 16) {
    char* p = malloc(bytes);
    if (p == NULL) break;
    p[0] = p[bytes - 1] = 1;
    longest = bytes;
    free(p);
  }
  return longest;
}

// Nothing of what was there before keeps a longer block from being had: one after the other is freed, or many short ones are.
static void Rise(void) {
  CHECK(LongestOf(1 << 20) > kLimit / 8 * 7);
  void* list = NULL;
  Exhaust(&list, 1000);
  Release(&list);
  CHECK(LongestOf(kLimit / 4 * 3) > kLimit / 4 * 3);
  char* p = calloc(1, kLimit / 4 * 3);
  CHECK(p != NULL);
  for (size_t i = 0; i < kLimit / 4 * 3; i += 1000) CHECK(p[i] == 0);
  free(p);
  // Not for what cannot be had, even if nothing else were there.
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  errno = 0;
  CHECK(malloc(limit.rlim_cur) == NULL && errno == ENOMEM);
}

static int IsFilled(const char* p, size_t bytes, char fill) {
  for (size_t i = 0; i < bytes; ++i) {
    if (p[i] != fill) return 0;
  }
  return 1;
}

// Programs do not expect that of a realloc to fewer bytes.
static void Shrink(void) {
  static const size_t kLongest[] = {100, 1000, 5000, 20000, 100 * 1000, 250 * 1000, 300 * 1000, 5000 * 1000};
  enum { kBlocks = sizeof(kLongest) / sizeof(kLongest[0]) };
  char* blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) blocks[i] = memset(malloc(kLongest[i]), i, kLongest[i]);
  void* list = NULL;
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2) Exhaust(&list, bytes);
  for (int i = 0; i < kBlocks; ++i) {
    for (size_t bytes = kLongest[i]; bytes > 0; bytes = bytes * 2 / 5) {
      char* p = realloc(blocks[i], bytes);
      CHECK(p != NULL && malloc_usable_size(p) >= bytes && IsFilled(p, bytes, (char)i));
      blocks[i] = p;
    }
  }
  Release(&list);
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
}

// Threads whose stacks are there already start, and live, when nothing else is to be had.
static void ExhaustWithThreads(void) {
  enum { kThreads = 20, kStackBytes = 256 * 1024 };
  char* stacks =
      mmap(NULL, kThreads * kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stacks != MAP_FAILED);
  void* list = NULL;
  Exhaust(&list, 1 << 20);
  Exhaust(&list, 64);
  for (int round = 0; round < 2; ++round) {
    pthread_t threads[kThreads];
    int made[kThreads];
    for (int i = 0; i < kThreads; ++i) {
      pthread_attr_t attributes;
      CHECK(pthread_attr_init(&attributes) == 0);
      CHECK(pthread_attr_setstack(&attributes, stacks + i * kStackBytes, kStackBytes) == 0);
      // libc takes memory from us for a thread: to have none is an error code.
      const int error = pthread_create(&threads[i], &attributes, Allocate, (void*)(size_t)(i * 100));
      CHECK(error == 0 || error == EAGAIN || error == ENOMEM);
      made[i] = error == 0;
      if (round == 1) CHECK(made[i]);
      pthread_attr_destroy(&attributes);
    }
    for (int i = 0; i < kThreads; ++i) {
      if (made[i]) CHECK(pthread_join(threads[i], NULL) == 0);
    }
    Release(&list);
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  // On top of what the process has reserved already, of which a recorder may give some back, and small stacks for the threads.
  FILE* statm = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  CHECK(statm != NULL && fscanf(statm, "%lu", &pages) == 1);
  fclose(statm);
  limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + kLimit;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  if (strcmp(argv[1], "big") == 0)
    ExhaustTwice(10 << 20);
  else if (strcmp(argv[1], "small") == 0)
    ExhaustTwice(100);
  else if (strcmp(argv[1], "rising") == 0)
    Rise();
  else if (strcmp(argv[1], "shrinking") == 0)
    Shrink();
  else
    ExhaustWithThreads();
  return 0;
}
