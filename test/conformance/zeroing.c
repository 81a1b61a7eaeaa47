// zeroing: what calloc returns is zero, whatever lay there before.
#include <pthread.h>

#include "cases.h"

enum { kMostBytes = 4 << 20, kBlocks = 4 };

// Of long blocks one says enough.
static int BlocksOf(size_t bytes) { return bytes > 100000 ? 1 : kBlocks; }

static void Dirty(size_t bytes) {
  unsigned char* blocks[kBlocks];
  for (int i = 0; i < BlocksOf(bytes); ++i) {
    blocks[i] = malloc(bytes);
    CHECK(blocks[i] != NULL);
    memset(blocks[i], 0xff, malloc_usable_size(blocks[i]));
  }
  for (int i = 0; i < BlocksOf(bytes); ++i) free(blocks[i]);
}

static void CheckZero(size_t count, size_t bytes) {
  unsigned char* blocks[kBlocks];
  const int count_of_blocks = BlocksOf(count * bytes);
  for (int i = 0; i < count_of_blocks; ++i) {
    blocks[i] = calloc(count, bytes);
    CHECK(blocks[i] != NULL && AllBytesAre(blocks[i], count * bytes, 0));
    memset(blocks[i], 0xee, malloc_usable_size(blocks[i]));
  }
  for (int i = 0; i < count_of_blocks; ++i) free(blocks[i]);
}

static void DirtyThenZero(size_t bytes, void* context) {
  (void)context;
  Dirty(bytes);
  CheckZero(1, bytes);
  CheckZero(bytes, 1);
}

static void EverySizeAfterReuse(void) { ForEachSize(kMostBytes, DirtyThenZero, NULL); }

// Each way to split 720,720 bytes, and the like, into elements.
static void EverySplit(void) {
  const size_t totals[] = {5040, 65536, 720720};
  for (size_t t = 0; t < sizeof(totals) / sizeof(totals[0]); ++t) {
    for (size_t count = 1; count <= totals[t]; ++count) {
      if (totals[t] % count != 0) continue;
      Dirty(totals[t]);
      CheckZero(count, totals[t] / count);
    }
  }
}

// Pages that were written, freed, and given back to the system or not.
static void AfterTrim(void) {
  for (int round = 0; round < 20; ++round) {
    for (size_t bytes = 1000; bytes <= 8 << 20; bytes = bytes * 3 + 1) {
      Dirty(bytes);
      if (round % 2 != 0) malloc_trim(0);
      CheckZero(1, bytes);
    }
  }
}

// What a shrinking realloc cut off comes back as zero.
static void AfterShrinking(void) {
  for (size_t bytes = 64; bytes <= 8 << 20; bytes *= 2) {
    unsigned char* p = malloc(bytes);
    memset(p, 0xdd, malloc_usable_size(p));
    p = realloc(p, bytes / 8);
    CHECK(p != NULL);
    CheckZero(1, bytes / 2);
    CheckZero(3, bytes / 8);
    free(p);
  }
}

// A long block split into short ones and the other way round.
static void AcrossSizes(void) {
  for (int round = 0; round < 6; ++round) {
    Dirty(2 << 20);
    for (int i = 0; i < 1000; ++i) CheckZero(1, 1000 + i);
    for (int i = 0; i < 1000; ++i) Dirty(3000 + i);
    malloc_trim(0);
    CheckZero(1, 2 << 20);
    CheckZero(1, 300000);
  }
}

static void AfterAligned(void) {
  for (size_t alignment = 32; alignment <= 1 << 20; alignment *= 2) {
    void* p = memalign(alignment, 3000);
    CHECK(p != NULL);
    memset(p, 0xcc, malloc_usable_size(p));
    free(p);
    CheckZero(1, 3000);
    CheckZero(1, alignment);
  }
}

static void* FreeAll(void* blocks) {
  for (int i = 0; i < 200; ++i) free(((void**)blocks)[i]);
  return NULL;
}

// Dirty blocks that another thread freed.
static void AfterFreeElsewhere(void) {
  for (size_t bytes = 16; bytes <= 100000; bytes = bytes * 3 / 2) {
    void* blocks[200];
    for (int i = 0; i < 200; ++i) {
      blocks[i] = malloc(bytes);
      memset(blocks[i], 0xbb, malloc_usable_size(blocks[i]));
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, FreeAll, blocks) == 0 && pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 100; ++i) CheckZero(1, bytes);
  }
}

int main(void) {
  static const struct Case cases[] = {
      {"calloc of every size after reuse", EverySizeAfterReuse},
      {"calloc of every split", EverySplit},
      {"calloc after malloc_trim", AfterTrim},
      {"calloc after a shrinking realloc", AfterShrinking},
      {"calloc of pages that held other sizes", AcrossSizes},
      {"calloc after aligned blocks", AfterAligned},
      {"calloc after frees in another thread", AfterFreeElsewhere},
  };
  return RUN_CASES(cases);
}
