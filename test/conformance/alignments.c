// alignments: every function that aligns, every alignment from 1 byte to 4 MiB, every size.
#include "cases.h"

enum { kMostAlignment = 4 << 20 };

static void* ByPosix(size_t alignment, size_t bytes) {
  void* p = NULL;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  CHECK(posix_memalign(&p, alignment, bytes) == 0);
  return p;
}

struct Function {
  void* (*allocate)(size_t alignment, size_t bytes);
  size_t alignment;
};

// Only the ends are written: the middle of a long block has nothing to say of its alignment.
static void CheckBlock(size_t bytes, void* context) {
  const struct Function* f = context;
  unsigned char* p = f->allocate(f->alignment, bytes);
  CHECK(p != NULL && IsAligned(p, f->alignment));
  const size_t usable = malloc_usable_size(p);
  CHECK(usable >= bytes);
  const size_t end = usable < 64 ? usable : 64;
  memset(p, 0x11, end);
  memset(p + usable - end, 0x22, end);
  free(p);
}

static void CheckFunction(void* (*allocate)(size_t, size_t)) {
  for (size_t alignment = 1; alignment <= kMostAlignment; alignment *= 2) {
    struct Function f = {allocate, alignment};
    ForEachSize(1 << 20, CheckBlock, &f);
    // Blocks of whole alignments too, as the aligned_alloc of C11 asks for.
    for (size_t count = 1; count <= 4; ++count) CheckBlock(count * alignment, &f);
  }
}

static void Memalign(void) { CheckFunction(memalign); }
static void AlignedAlloc(void) { CheckFunction(aligned_alloc); }
static void PosixMemalign(void) { CheckFunction(ByPosix); }

// Several at once, filled: they lie apart.
static void AlignedNeighbours(void) {
  for (size_t alignment = 16; alignment <= kMostAlignment; alignment *= 2) {
    for (size_t bytes = 1; bytes <= 1 << 17; bytes = bytes * 3 + 1) {
      unsigned char* blocks[5];
      size_t usable[5];
      for (int i = 0; i < 5; ++i) {
        blocks[i] = memalign(alignment, bytes);
        CHECK(blocks[i] != NULL && IsAligned(blocks[i], alignment));
        usable[i] = malloc_usable_size(blocks[i]);
        memset(blocks[i], i + 1, usable[i]);
      }
      for (int i = 0; i < 5; ++i) CHECK(AllBytesAre(blocks[i], usable[i], i + 1));
      for (int i = 0; i < 5; ++i) free(blocks[i]);
    }
  }
}

static void HugeAlignments(void) {
  for (size_t alignment = 8 << 20; alignment <= 1 << 30; alignment *= 2) {
    char* p = memalign(alignment, 100);
    CHECK(p != NULL && IsAligned(p, alignment));
    memset(p, 1, 100);
    free(p);
  }
}

static void PageFunctions(void) {
  const size_t page = sysconf(_SC_PAGESIZE);
  for (size_t bytes = 0; bytes <= 3 * page; bytes += 61) {
    char* v = valloc(bytes);
    char* w = pvalloc(bytes);
    CHECK(v != NULL && IsAligned(v, page) && w != NULL && IsAligned(w, page) && v != w);
    // pvalloc gives whole pages.
    const size_t whole = (bytes + page - 1) / page * page;
    CHECK(malloc_usable_size(v) >= bytes && malloc_usable_size(w) >= whole);
    memset(w, 1, whole);
    free(v);
    free(w);
  }
}

// A block that moves need not stay aligned, but keeps what is in it.
static void ReallocOfAligned(void) {
  for (size_t alignment = 16; alignment <= 1 << 20; alignment *= 4) {
    for (size_t bytes = 1; bytes <= 1 << 20; bytes = bytes * 7 + 1) {
      for (size_t to = 1; to <= 1 << 21; to = to * 9 + 2) {
        unsigned char* p = memalign(alignment, bytes);
        CHECK(p != NULL);
        memset(p, 0x77, bytes);
        p = realloc(p, to);
        CHECK(p != NULL && AllBytesAre(p, bytes < to ? bytes : to, 0x77));
        free(p);
      }
    }
  }
}

// The alignment that the others get is not lost by what was aligned and freed before.
static void AlignedAndPlainMixed(void) {
  for (int round = 0; round < 2000; ++round) {
    void* aligned = memalign((size_t)16 << round % 12, round);
    void* plain = malloc(round);
    CHECK(aligned != NULL && plain != NULL && IsAligned(plain, round < 16 ? 1 : 16));
    memset(plain, 1, round);
    free(aligned);
    free(plain);
  }
}

int main(void) {
  static const struct Case cases[] = {
      {"memalign: every alignment, every size", Memalign},
      {"aligned_alloc: every alignment, every size", AlignedAlloc},
      {"posix_memalign: every alignment, every size", PosixMemalign},
      {"aligned neighbours do not overlap", AlignedNeighbours},
      {"alignments of 8 MiB to 1 GiB", HugeAlignments},
      {"valloc and pvalloc", PageFunctions},
      {"realloc of aligned blocks keeps their content", ReallocOfAligned},
      {"aligned and plain blocks mixed", AlignedAndPlainMixed},
  };
  return RUN_CASES(cases);
}
