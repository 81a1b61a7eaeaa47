// reallocs: a block keeps its content up to the shorter of both sizes, whatever it was and becomes.
#include "cases.h"

// The byte at each place of a block: a function of both, so that one that lies elsewhere shows.
static unsigned char ByteAt(size_t place, unsigned salt) {
  return (unsigned char)(place * 131 + (place >> 8) * 17 + salt);
}

static void Fill(unsigned char* p, size_t bytes, unsigned salt) {
  for (size_t i = 0; i < bytes; ++i) p[i] = ByteAt(i, salt);
}

static void CheckFill(const unsigned char* p, size_t bytes, unsigned salt) {
  for (size_t i = 0; i < bytes; ++i) CHECK(p[i] == ByteAt(i, salt));
}

static void EveryPairOfSizes(void) {
  for (size_t from = 0; from <= 4 << 20; from = from * 3 / 2 + 5) {
    for (size_t to = 1; to <= 4 << 20; to = to * 2 + 3) {
      unsigned char* p = malloc(from);
      CHECK(p != NULL);
      Fill(p, from, 1);
      p = realloc(p, to);
      CHECK(p != NULL && malloc_usable_size(p) >= to);
      CheckFill(p, from < to ? from : to, 1);
      if (to > from) memset(p + from, 0, to - from);
      free(p);
    }
  }
}

// A byte more each time, as the simplest of readers do.
static void ByteByByte(void) {
  unsigned char* p = NULL;
  for (size_t bytes = 1; bytes <= 20000; ++bytes) {
    p = realloc(p, bytes);
    CHECK(p != NULL);
    p[bytes - 1] = ByteAt(bytes - 1, 9);
  }
  CheckFill(p, 20000, 9);
  for (size_t bytes = 20000; bytes > 0; bytes -= bytes > 100 ? 37 : 1) {
    p = realloc(p, bytes);
    CHECK(p != NULL);
  }
  CHECK(p[0] == ByteAt(0, 9));
  free(p);
}

static void LargeSteps(void) {
  unsigned char* p = NULL;
  size_t before = 0;
  for (size_t bytes = 4096; bytes <= 128 << 20; bytes *= 2) {
    p = realloc(p, bytes);
    CHECK(p != NULL);
    CheckFill(p, before < 1 << 20 ? before : 1 << 20, 3);
    Fill(p, bytes < 1 << 20 ? bytes : 1 << 20, 3);
    if (before > 1 << 20) CHECK(p[before - 1] == 77);
    if (bytes > 1 << 20) p[bytes - 1] = 77;
    before = bytes;
  }
  for (size_t bytes = 128 << 20; bytes >= 1 << 20; bytes = bytes / 4 * 3 / 4096 * 4096) {
    p = realloc(p, bytes);
    CHECK(p != NULL);
    CheckFill(p, 1 << 20, 3);
  }
  free(p);
}

static void NullIsMalloc(void) {
  for (size_t bytes = 0; bytes < 5000; ++bytes) {
    unsigned char* p = bytes % 2 ? realloc(NULL, bytes) : reallocarray(NULL, bytes, 1);
    CHECK(p != NULL && malloc_usable_size(p) >= bytes);
    memset(p, 1, bytes);
    free(p);
  }
}

// glibc: realloc(p, 0) frees and returns NULL; C leaves it open, so that a block of nothing will do too.
static void ZeroFrees(void) {
  for (size_t bytes = 0; bytes < 1 << 20; bytes = bytes * 2 + 1) {
    // Many times: a leak would be gigabytes.
    for (int i = 0; i < 5000; ++i) {
      char* p = malloc(bytes);
      CHECK(p != NULL);
      void* q = realloc(p, 0);
      free(q);
    }
  }
  struct mallinfo2 info = mallinfo2();
  CHECK(info.uordblks + info.hblkhd < (size_t)1 << 30);
}

// A thousand blocks against a model of them.
static void RandomWalk(void) {
  enum { kBlocks = 1000, kSteps = 60000 };
  static struct {
    unsigned char* p;
    size_t bytes;
    unsigned salt;
  } blocks[kBlocks];
  uint64_t random = 88172645463325252u;
  for (unsigned step = 0; step < kSteps; ++step) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const unsigned i = (unsigned)(random >> 20) % kBlocks;
    const size_t bytes = (random >> 32) % ((size_t)1 << (1 + (random >> 60) + (step % 512 == 0 ? 4 : 0)));
    if (bytes == 0) {
      free(blocks[i].p);
      blocks[i].p = NULL;
      blocks[i].bytes = 0;
      continue;
    }
    unsigned char* p = realloc(blocks[i].p, bytes);
    CHECK(p != NULL);
    CheckFill(p, bytes < blocks[i].bytes ? bytes : blocks[i].bytes, blocks[i].salt);
    Fill(p, bytes, step);
    blocks[i].p = p;
    blocks[i].bytes = bytes;
    blocks[i].salt = step;
  }
  for (int i = 0; i < kBlocks; ++i) {
    CheckFill(blocks[i].p, blocks[i].bytes, blocks[i].salt);
    free(blocks[i].p);
  }
}

int main(void) {
  static const struct Case cases[] = {
      {"every pair of sizes keeps the content", EveryPairOfSizes},
      {"byte by byte up, and down again", ByteByByte},
      {"large steps up to 128 MiB, and down again", LargeSteps},
      {"realloc and reallocarray of NULL are malloc", NullIsMalloc},
      {"realloc to nothing does not leak", ZeroFrees},
      {"60,000 random steps against a model", RandomWalk},
  };
  return RUN_CASES(cases);
}
