// sizes: what a block of each size is: its own, aligned, and all of it usable.
#include "cases.h"

enum { kMostBytes = 4 << 20 };

// C: aligned for every type that could lie in so many bytes.
static size_t AlignmentFor(size_t bytes) {
  size_t alignment = 1;
  while (alignment < 16 && alignment * 2 <= bytes) alignment *= 2;
  return alignment;
}

static void CheckBlock(size_t bytes, void* context) {
  (void)context;
  unsigned char* p = malloc(bytes);
  CHECK(p != NULL && IsAligned(p, AlignmentFor(bytes)));
  const size_t usable = malloc_usable_size(p);
  CHECK(usable >= bytes);
  memset(p, 0xa5, usable);
  CHECK(AllBytesAre(p, usable, 0xa5));
  CHECK(malloc_usable_size(p) == usable);
  free(p);
}

static void EverySizeIsUsable(void) { ForEachSize(kMostBytes, CheckBlock, NULL); }

// Three neighbours, each filled up to its usable end, keep what was written into them.
static void CheckNeighbours(size_t bytes, void* context) {
  (void)context;
  unsigned char* blocks[3];
  size_t usable[3];
  for (int i = 0; i < 3; ++i) {
    blocks[i] = malloc(bytes);
    CHECK(blocks[i] != NULL);
    usable[i] = malloc_usable_size(blocks[i]);
    memset(blocks[i], i + 1, usable[i]);
  }
  for (int i = 0; i < 3; ++i) CHECK(AllBytesAre(blocks[i], usable[i], i + 1));
  for (int i = 0; i < 3; ++i) free(blocks[(i + 1) % 3]);
}

static void NeighboursDoNotOverlap(void) { ForEachSize(kMostBytes, CheckNeighbours, NULL); }

static int ByAddress(const void* a, const void* b) {
  const uintptr_t left = *(const uintptr_t*)a, right = *(const uintptr_t*)b;
  return (left > right) - (left < right);
}

// Blocks of nothing differ from each other and from all that is alive.
static void NothingIsUnique(void) {
  enum { kBlocks = 20000 };
  static uintptr_t addresses[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    void* p = i % 4 == 0   ? malloc(i % 32)
              : i % 4 == 1 ? calloc(0, i)
              : i % 4 == 2 ? realloc(NULL, 0)
                           : malloc(0);
    CHECK(p != NULL);
    addresses[i] = (uintptr_t)p;
  }
  qsort(addresses, kBlocks, sizeof(addresses[0]), ByAddress);
  for (int i = 1; i < kBlocks; ++i) CHECK(addresses[i] != addresses[i - 1]);
  for (int i = 0; i < kBlocks; ++i) free((void*)addresses[i]);
}

// Blocks of many sizes at once: none lies in another.
static void BlocksAreDisjoint(void) {
  enum { kBlocks = 8192 };
  static struct {
    uintptr_t start;
    size_t usable;
  } blocks[kBlocks];
  for (size_t i = 0; i < kBlocks; ++i) {
    const size_t bytes = i < 4096 ? i : i * i / 512;
    void* p = malloc(bytes);
    CHECK(p != NULL);
    blocks[i].start = (uintptr_t)p;
    blocks[i].usable = malloc_usable_size(p);
    CHECK(blocks[i].usable >= bytes);
  }
  qsort(blocks, kBlocks, sizeof(blocks[0]), ByAddress);
  for (int i = 1; i < kBlocks; ++i) CHECK(blocks[i - 1].start + blocks[i - 1].usable <= blocks[i].start);
  for (int i = 0; i < kBlocks; ++i) free((void*)blocks[i].start);
}

static void UsableSizeOfNullIsZero(void) { CHECK(malloc_usable_size(NULL) == 0); }

// Programs write into all that malloc_usable_size names and then let the block grow into it.
static void UsableBytesSurviveRealloc(void) {
  for (size_t bytes = 1; bytes < 1 << 20; bytes = bytes * 5 / 4 + 1) {
    unsigned char* p = malloc(bytes);
    const size_t usable = malloc_usable_size(p);
    memset(p, 0x3c, usable);
    p = realloc(p, usable);
    CHECK(p != NULL && AllBytesAre(p, usable, 0x3c));
    p = realloc(p, usable * 2);
    CHECK(p != NULL && AllBytesAre(p, usable, 0x3c));
    free(p);
  }
}

// One block of 1 GiB, its ends written.
static void HugeBlock(void) {
  const size_t bytes = (size_t)1 << 30;
  unsigned char* p = malloc(bytes);
  CHECK(p != NULL && malloc_usable_size(p) >= bytes);
  p[0] = 1;
  p[bytes - 1] = 2;
  CHECK(p[0] == 1 && p[bytes / 2] == 0 && p[bytes - 1] == 2);
  free(p);
}

int main(void) {
  static const struct Case cases[] = {
      {"every size is aligned and usable to its end", EverySizeIsUsable},
      {"neighbours of every size do not overlap", NeighboursDoNotOverlap},
      {"blocks of nothing are unique", NothingIsUnique},
      {"blocks of 8192 sizes are disjoint", BlocksAreDisjoint},
      {"malloc_usable_size(NULL) is 0", UsableSizeOfNullIsZero},
      {"usable bytes survive realloc", UsableBytesSurviveRealloc},
      {"a block of 1 GiB", HugeBlock},
  };
  return RUN_CASES(cases);
}
