// handover BLOCKS: two threads allocate, two others free, and never do anything else; so many blocks go from one side to
// the other. What is under way is bounded, so memory has to be as well.
#include <pthread.h>

#include "../surface/check.h"

enum { kPairs = 2, kRing = 4096, kMostMegabytes = 96 };

// A ring with one writer and one reader.
struct Ring {
  void* slots[kRing];
  size_t written __attribute__((aligned(64)));
  size_t read __attribute__((aligned(64)));
  size_t total;
};

static struct Ring rings[kPairs];

static void* Produce(void* argument) {
  struct Ring* ring = argument;
  unsigned random = 7;
  for (size_t i = 0; i < ring->total; ++i) {
    while (i - __atomic_load_n(&ring->read, __ATOMIC_ACQUIRE) == kRing) usleep(1);
    random = random * 1664525 + 1013904223;
    const size_t bytes = 16 + (random >> 8) % (random >> 24 == 0 ? 20000 : 500);
    unsigned char* p = malloc(bytes);
    CHECK(p != NULL);
    p[0] = i & 0xff;
    p[bytes - 1] = 1;
    ring->slots[i % kRing] = p;
    __atomic_store_n(&ring->written, i + 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void* Consume(void* argument) {
  struct Ring* ring = argument;
  for (size_t i = 0; i < ring->total; ++i) {
    while (__atomic_load_n(&ring->written, __ATOMIC_ACQUIRE) == i) usleep(1);
    unsigned char* p = ring->slots[i % kRing];
    CHECK(p[0] == (i & 0xff));
    free(p);
    __atomic_store_n(&ring->read, i + 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const size_t before = ResidentBytes();
  pthread_t threads[2 * kPairs];
  for (int i = 0; i < kPairs; ++i) {
    rings[i].total = strtoull(argv[1], NULL, 10) / kPairs;
    CHECK(pthread_create(&threads[2 * i], NULL, Produce, &rings[i]) == 0);
    CHECK(pthread_create(&threads[2 * i + 1], NULL, Consume, &rings[i]) == 0);
  }
  for (int i = 0; i < 2 * kPairs; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  const size_t grown = (ResidentBytes() - before) >> 20;
  printf("%zu MiB\n", grown);
  CHECK(grown < kMostMegabytes);
  return 0;
}
