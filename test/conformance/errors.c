// errors: what cannot be had is refused by the code that C and POSIX name, and nothing else changes.
#include <pthread.h>

#include "cases.h"

static size_t Hidden(size_t value) {
  HIDE(value);
  return value;
}

// Too large for any object, and too large for any machine.
static const size_t kImpossible[] = {
    (size_t)1 << 60, (size_t)PTRDIFF_MAX - 65536, PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX - 65536,
    SIZE_MAX - 4096, SIZE_MAX - sizeof(void*),    SIZE_MAX};
enum { kImpossibleCount = sizeof(kImpossible) / sizeof(kImpossible[0]) };

#define REFUSED(expression)      \
  do {                           \
    errno = 0;                   \
    CHECK((expression) == NULL); \
    CHECK(errno == ENOMEM);      \
  } while (0)

static void MallocTooLarge(void) {
  for (int i = 0; i < kImpossibleCount; ++i) REFUSED(malloc(Hidden(kImpossible[i])));
}

static void CallocTooLarge(void) {
  for (int i = 0; i < kImpossibleCount; ++i) {
    REFUSED(calloc(1, Hidden(kImpossible[i])));
    REFUSED(calloc(Hidden(kImpossible[i]), 1));
    REFUSED(calloc(Hidden(kImpossible[i]), Hidden(kImpossible[i])));
  }
}

// Products that overflow by little and by much, into small numbers and large ones.
static void ProductsOverflow(void) {
  char* kept = malloc(10);
  memset(kept, 'k', 10);
  for (size_t bytes = 2; bytes != 0 && bytes <= (size_t)1 << 62; bytes = bytes * 3 / 2 + 1) {
    for (size_t more = 1; more <= 3; ++more) {
      const size_t count = Hidden(SIZE_MAX / bytes + more);
      REFUSED(calloc(count, bytes));
      REFUSED(calloc(bytes, count));
      REFUSED(reallocarray(NULL, count, bytes));
      REFUSED(reallocarray(kept, count, bytes));
      REFUSED(reallocarray(kept, bytes, count));
    }
  }
  CHECK(AllBytesAre(kept, 10, 'k'));
  free(kept);
}

// A block whose realloc is refused is still there, whole.
static void ReallocRefusedKeepsTheBlock(void) {
  for (size_t bytes = 1; bytes <= 16 << 20; bytes = bytes * 9 + 3) {
    unsigned char* p = malloc(bytes);
    CHECK(p != NULL);
    memset(p, 0x5c, bytes);
    for (int i = 0; i < kImpossibleCount; ++i) {
      REFUSED(realloc(p, Hidden(kImpossible[i])));
      REFUSED(reallocarray(p, Hidden(kImpossible[i]), 3));
    }
    CHECK(AllBytesAre(p, bytes, 0x5c) && malloc_usable_size(p) >= bytes);
    p = realloc(p, bytes + 1);
    CHECK(p != NULL && AllBytesAre(p, bytes, 0x5c));
    free(p);
  }
}

static void AlignedTooLarge(void) {
  for (size_t alignment = 16; alignment <= (size_t)1 << 40; alignment *= 2) {
    for (int i = 0; i < kImpossibleCount; ++i) {
      const size_t bytes = Hidden(kImpossible[i]);
      REFUSED(memalign(alignment, bytes));
      REFUSED(aligned_alloc(alignment, bytes / alignment * alignment));
      void* p = &p;
      CHECK(posix_memalign(&p, alignment, bytes) == ENOMEM && p == &p);
    }
  }
  for (int i = 0; i < kImpossibleCount; ++i) {
    REFUSED(valloc(Hidden(kImpossible[i])));
    REFUSED(pvalloc(Hidden(kImpossible[i])));
  }
}

// A power of two that no address space has room for is out of memory, not a bad argument.
static void HugeAlignments(void) {
  for (int bit = 47; bit < 64; ++bit) {
    const size_t alignment = Hidden((size_t)1 << bit);
    void* p = &p;
    CHECK(posix_memalign(&p, alignment, 1) == ENOMEM && p == &p);
    errno = 0;
    CHECK(memalign(alignment, 1) == NULL && (errno == ENOMEM || errno == EINVAL));
    errno = 0;
    CHECK(aligned_alloc(alignment, alignment) == NULL && (errno == ENOMEM || errno == EINVAL));
  }
}

// posix_memalign: EINVAL for what is no power of two, or less than a pointer; *p stays as it was.
static void BadAlignments(void) {
  for (size_t alignment = 0; alignment <= 4097; ++alignment) {
    const int good = alignment >= sizeof(void*) && (alignment & (alignment - 1)) == 0;
    void* const untouched = (void*)0x5678;
    void* p = untouched;
    const int error = posix_memalign(&p, Hidden(alignment), 24);
    CHECK(error == (good ? 0 : EINVAL) && (p != untouched) == good);
    if (good) free(p);
  }
  for (int bit = 13; bit < 63; ++bit) {
    void* const untouched = (void*)0x5678;
    void* p = untouched;
    CHECK(posix_memalign(&p, Hidden(((size_t)1 << bit) + 8), 24) == EINVAL && p == untouched);
  }
}

// memalign and aligned_alloc of other numbers either refuse, or give at least what was asked for.
static void OddAlignments(void) {
  for (size_t alignment = 0; alignment <= 4097; ++alignment) {
    errno = 0;
    void* p = memalign(Hidden(alignment), 24);
    CHECK(p != NULL || errno == EINVAL);
    free(p);
    errno = 0;
    p = aligned_alloc(Hidden(alignment), 24);
    CHECK(p != NULL || errno == EINVAL);
    free(p);
  }
}

// Success leaves errno alone; so do free and all that returns a block in vain.
static void SuccessKeepsErrno(void) {
  for (size_t bytes = 0; bytes <= 64 << 20; bytes = bytes * 5 + 7) {
    errno = 4711;
    void* blocks[] = {malloc(bytes), calloc(3, bytes / 3), memalign(64, bytes), realloc(NULL, bytes)};
    CHECK(errno == 4711);
    blocks[0] = realloc(blocks[0], bytes * 2 + 1);
    CHECK(errno == 4711 && malloc_usable_size(blocks[1]) >= bytes / 3 * 3);
    for (int i = 0; i < 4; ++i) free(blocks[i]);
    free(NULL);
    malloc_trim(0);
    CHECK(errno == 4711);
  }
}

static void* RefuseInThread(void* unused) {
  (void)unused;
  MallocTooLarge();
  CallocTooLarge();
  return NULL;
}

// errno is the thread's own, also in a thread whose first call is refused.
static void ErrnoOfAThread(void) {
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    errno = 4711;
    CHECK(pthread_create(&thread, NULL, RefuseInThread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(errno == 4711);
  }
}

// After a thousand refusals everything is as before.
static void GoesOnAfterRefusals(void) {
  for (int round = 0; round < 1000; ++round) {
    REFUSED(malloc(Hidden((size_t)1 << 60)));
    char* p = malloc(round * 100);
    CHECK(p != NULL);
    memset(p, 1, round * 100);
    free(p);
  }
}

int main(void) {
  static const struct Case cases[] = {
      {"malloc too large: ENOMEM", MallocTooLarge},
      {"calloc too large: ENOMEM", CallocTooLarge},
      {"calloc and reallocarray: overflow is ENOMEM", ProductsOverflow},
      {"realloc refused: ENOMEM, and the block stays", ReallocRefusedKeepsTheBlock},
      {"aligned functions too large: ENOMEM", AlignedTooLarge},
      {"alignments of 2^47 and more are refused", HugeAlignments},
      {"posix_memalign: EINVAL, and the pointer stays", BadAlignments},
      {"memalign and aligned_alloc of odd alignments", OddAlignments},
      {"success keeps errno", SuccessKeepsErrno},
      {"errno is the thread's own", ErrnoOfAThread},
      {"goes on after refusals", GoesOnAfterRefusals},
  };
  return RUN_CASES(cases);
}
