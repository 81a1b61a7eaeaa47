// thread_storm LIVE SHORT: so many threads at once, all with blocks; then so many short ones, eight at a time, each of
// which frees what others made, leaves blocks of its own, and allocates in the destructors of its keys. Memory does not
// grow with the number of threads that have been.
#include <pthread.h>

#include "../surface/check.h"

enum { kAtOnce = 8, kShelf = 512, kWarmUp = 1000, kMostGrownMegabytes = 16 };

static pthread_barrier_t all_there;
static pthread_key_t keys[4];
static void* shelf[kShelf];

static void Swap(unsigned i, void* p) { free(__atomic_exchange_n(&shelf[i % kShelf], p, __ATOMIC_ACQ_REL)); }

// Runs four times for each key, since it arms it again, and allocates every time.
static void Destroy(void* value) {
  const size_t left = (size_t)value;
  free(calloc(left, 333));
  Swap(left * 31, malloc(left * 50));
  if (left > 1) pthread_setspecific(keys[left % 4], (void*)(left - 1));
}

static void* Live(void* block) {
  free(block);
  void* blocks[20];
  for (int i = 0; i < 20; ++i) CHECK((blocks[i] = malloc(1 + i * 50)) != NULL);
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < 20; ++i) free(blocks[i]);
  return malloc(24);
}

static void* Short(void* seed) {
  unsigned random = (unsigned)(size_t)seed * 2654435761u;
  for (int i = 0; i < 4; ++i) pthread_setspecific(keys[i], (void*)4);
  for (int i = 0; i < 50; ++i) {
    random = random * 1664525 + 1013904223;
    const size_t bytes = 1 + (random >> 8) % (random >> 26 == 0 ? 300000 : 2000);
    char* p = malloc(bytes);
    CHECK(p != NULL);
    p[0] = p[bytes - 1] = 1;
    Swap(random >> 16, p);
  }
  return NULL;
}

static void RunShort(const pthread_attr_t* attributes, size_t first, size_t count) {
  for (size_t i = first; i < first + count; i += kAtOnce) {
    pthread_t threads[kAtOnce];
    for (size_t t = 0; t < kAtOnce; ++t)
      CHECK(pthread_create(&threads[t], attributes, Short, (void*)(i + t + 1)) == 0);
    for (int t = 0; t < kAtOnce; ++t) CHECK(pthread_join(threads[t], NULL) == 0);
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const int live = atoi(argv[1]), count = atoi(argv[2]);
  for (int i = 0; i < 4; ++i) CHECK(pthread_key_create(&keys[i], Destroy) == 0);
  pthread_attr_t small;
  CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 64 * 1024) == 0);
  CHECK(pthread_barrier_init(&all_there, NULL, live) == 0);
  pthread_t* threads = calloc(live, sizeof(pthread_t));
  for (int i = 0; i < live; ++i) CHECK(pthread_create(&threads[i], &small, Live, malloc(33)) == 0);
  for (int i = 0; i < live; ++i) {
    void* block;
    CHECK(pthread_join(threads[i], &block) == 0 && block != NULL);
    free(block);
  }
  free(threads);
  RunShort(&small, 0, kWarmUp);
  const size_t warm = ResidentBytes();
  RunShort(&small, kWarmUp, count);
  const size_t after = ResidentBytes();
  printf("%zu MiB, then %zu MiB\n", warm >> 20, after >> 20);
  CHECK(after < warm + ((size_t)kMostGrownMegabytes << 20));
  return 0;
}
