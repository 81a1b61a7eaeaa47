// storage: blocks of several threads at once. Each is filled by its owner, checked by whoever frees it, and handed on.
#include <pthread.h>

#include "cases.h"

enum { kThreads = 6, kSlots = 4096 };

struct Block {
  size_t bytes;
  unsigned char* p;
};

// One place where threads leave blocks for each other.
static struct {
  pthread_mutex_t lock;
  struct Block block;
} slots[kSlots];

static uint64_t Next(uint64_t* random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

static struct Block Make(uint64_t* random) {
  const uint64_t r = Next(random);
  const size_t bytes = r % 997 == 0 ? (r >> 20) % (2 << 20) : (r >> 20) % ((size_t)16 << (r >> 60) % 11) + 1;
  struct Block block = {bytes, NULL};
  switch ((r >> 50) % 4) {
    case 0:
      block.p = calloc(1, bytes);
      break;
    case 1:
      block.p = memalign((size_t)16 << (r >> 54) % 9, bytes);
      break;
    default:
      block.p = malloc(bytes);
  }
  CHECK(block.p != NULL);
  if ((r >> 50) % 4 == 0) CHECK(AllBytesAre(block.p, bytes, 0));
  memset(block.p, (int)(bytes & 0xff), bytes);
  return block;
}

static void Drop(struct Block block, uint64_t* random) {
  CHECK(AllBytesAre(block.p, block.bytes, block.bytes & 0xff));
  if (Next(random) % 8 == 0 && block.p != NULL) {
    const size_t bytes = block.bytes / 2 + 1;
    block.p = realloc(block.p, bytes);
    CHECK(block.p != NULL &&
          AllBytesAre(block.p, bytes < block.bytes ? bytes : block.bytes, block.bytes & 0xff));
  }
  free(block.p);
}

static void* Exchange(void* seed) {
  uint64_t random = 0x9e3779b97f4a7c15u * ((uintptr_t)seed + 1);
  for (int i = 0; i < 40000; ++i) {
    struct Block block = Make(&random);
    const unsigned slot = Next(&random) % kSlots;
    pthread_mutex_lock(&slots[slot].lock);
    struct Block other = slots[slot].block;
    slots[slot].block = block;
    pthread_mutex_unlock(&slots[slot].lock);
    Drop(other, &random);
  }
  return NULL;
}

static void RunThreads(int count, void* (*run)(void*)) {
  pthread_t threads[64];
  for (int i = 0; i < count; ++i) CHECK(pthread_create(&threads[i], NULL, run, (void*)(size_t)i) == 0);
  for (int i = 0; i < count; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void BlocksChangeHands(void) {
  for (int i = 0; i < kSlots; ++i) pthread_mutex_init(&slots[i].lock, NULL);
  RunThreads(kThreads, Exchange);
  uint64_t random = 7;
  for (int i = 0; i < kSlots; ++i) Drop(slots[i].block, &random);
}

// Threads that come and go while their blocks live on.
static void BlocksOutliveTheirThread(void) {
  for (int i = 0; i < kSlots; ++i) pthread_mutex_init(&slots[i].lock, NULL);
  for (int round = 0; round < 4; ++round) RunThreads(4, Exchange);
  uint64_t random = 7;
  for (int i = 0; i < kSlots; ++i) Drop(slots[i].block, &random);
}

static void* FirstCall(void* which) {
  void* p = NULL;
  switch ((size_t)which % 6) {
    case 0:
      free(NULL);
      break;
    case 1:
      p = calloc(10, 10);
      break;
    case 2:
      p = realloc(NULL, 100);
      break;
    case 3:
      CHECK(posix_memalign(&p, 64, 100) == 0);
      break;
    case 4:
      CHECK(malloc_usable_size(NULL) == 0);
      break;
    default:
      p = malloc(1 << 20);
  }
  free(p);
  return NULL;
}

// Each function may be the first that a thread calls.
static void FirstCallOfAThread(void) {
  for (int round = 0; round < 20; ++round) RunThreads(36, FirstCall);
}

static void* Statistics(void* unused) {
  (void)unused;
  for (int i = 0; i < 300; ++i) {
    CHECK(mallinfo2().uordblks + mallinfo2().hblkhd < (size_t)1 << 40);
    malloc_trim(0);
    free(malloc(100000));
  }
  return NULL;
}

// malloc_trim and the statistics while others allocate.
static void TrimWhileOthersAllocate(void) {
  for (int i = 0; i < kSlots; ++i) pthread_mutex_init(&slots[i].lock, NULL);
  pthread_t trimmer;
  CHECK(pthread_create(&trimmer, NULL, Statistics, NULL) == 0);
  RunThreads(3, Exchange);
  CHECK(pthread_join(trimmer, NULL) == 0);
}

int main(void) {
  static const struct Case cases[] = {
      {"blocks change hands among six threads", BlocksChangeHands},
      {"blocks outlive their thread", BlocksOutliveTheirThread},
      {"each function as a thread's first call", FirstCallOfAThread},
      {"malloc_trim while others allocate", TrimWhileOthersAllocate},
  };
  return RUN_CASES(cases);
}
