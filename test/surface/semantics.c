// The meaning of each function of malloc.h, above all where it fails. Everything here holds for glibc 2.36
// too, except what says otherwise.
#include <malloc.h>
#include <stdint.h>
#include <wchar.h>

#include "check.h"

void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* __libc_valloc(size_t);
void* __libc_pvalloc(size_t);
// Not exported by glibc since 2.26.
__attribute__((weak)) int __posix_memalign(void**, size_t, size_t);
MALLOW_MAYBE void free_sized(void*, size_t);
MALLOW_MAYBE void free_aligned_sized(void*, size_t, size_t);
// Gone from the headers, still there for programs that were linked before 2017: not for those that are linked today.
#ifdef MALLOW_LINKED
#define OldFree free
#else
void OldFree(void*);
__asm__(".symver OldFree, cfree@GLIBC_2.2.5");
#endif

// Sizes that no object may have.
static const size_t kTooLarge[] = {(size_t)PTRDIFF_MAX + 1, SIZE_MAX - 4096, SIZE_MAX - 4095, SIZE_MAX - 64,
                                   SIZE_MAX - 17,           SIZE_MAX - 16,   SIZE_MAX - 1,    SIZE_MAX};
enum { kTooLargeCount = sizeof(kTooLarge) / sizeof(kTooLarge[0]) };

#define FAILS_WITH(error, expression) \
  do {                                \
    errno = 0;                        \
    CHECK((expression) == NULL);      \
    CHECK(errno == (error));          \
  } while (0)

static int IsAligned(const void* p, size_t alignment) { return (uintptr_t)p % alignment == 0; }

static void TestNothing(void) {
  void* a = malloc(0);
  void* b = malloc(0);
  CHECK(a != NULL && b != NULL && a != b);
  free(a);
  free(b);
  void* c = calloc(0, 8);
  void* d = calloc(8, 0);
  CHECK(c != NULL && d != NULL && c != d);
  void* e = realloc(NULL, 0);
  CHECK(e != NULL);
  errno = 0;
  CHECK(realloc(c, 0) == NULL && errno == 0);
  CHECK(realloc(d, 0) == NULL && errno == 0);
  CHECK(realloc(e, 0) == NULL && errno == 0);
  free(NULL);
  OldFree(NULL);
  CHECK(malloc_usable_size(NULL) == 0);
}

static void TestTooLarge(void) {
  void* small = malloc(24);
  memset(small, 'x', 24);
  for (int i = 0; i < kTooLargeCount; ++i) {
    size_t bytes = kTooLarge[i];
    HIDE(bytes);
    FAILS_WITH(ENOMEM, malloc(bytes));
    FAILS_WITH(ENOMEM, calloc(1, bytes));
    FAILS_WITH(ENOMEM, calloc(bytes, 1));
    FAILS_WITH(ENOMEM, calloc(bytes, 16));
    FAILS_WITH(ENOMEM, realloc(NULL, bytes));
    FAILS_WITH(ENOMEM, realloc(small, bytes));
    FAILS_WITH(ENOMEM, reallocarray(small, bytes, 2));
    FAILS_WITH(ENOMEM, reallocarray(small, 2, bytes));
    FAILS_WITH(ENOMEM, reallocarray(small, bytes, 1));
    FAILS_WITH(ENOMEM, memalign(8, bytes));
    FAILS_WITH(ENOMEM, memalign(64, bytes));
    FAILS_WITH(ENOMEM, memalign(1 << 20, bytes));
    FAILS_WITH(ENOMEM, aligned_alloc(32, bytes));
    FAILS_WITH(ENOMEM, valloc(bytes));
    FAILS_WITH(ENOMEM, pvalloc(bytes));
    FAILS_WITH(ENOMEM, __libc_malloc(bytes));
    FAILS_WITH(ENOMEM, __libc_memalign(64, bytes));
  }
  for (size_t bytes = SIZE_MAX - 8192; bytes != 0; ++bytes) FAILS_WITH(ENOMEM, malloc(bytes));
  size_t root = (size_t)1 << 32;
  HIDE(root);
  FAILS_WITH(ENOMEM, calloc(root, root));
  FAILS_WITH(ENOMEM, calloc(root, root + 1));
  FAILS_WITH(ENOMEM, reallocarray(NULL, root, root));
  FAILS_WITH(ENOMEM, reallocarray(small, root + 1, root));
  // Larger than any address space has room for, but a permitted size.
  size_t huge = PTRDIFF_MAX;
  HIDE(huge);
  FAILS_WITH(ENOMEM, malloc(huge));
  FAILS_WITH(ENOMEM, calloc(huge, 1));
  FAILS_WITH(ENOMEM, realloc(small, huge));
  FAILS_WITH(ENOMEM, memalign(4096, huge - 8192));
  FAILS_WITH(ENOMEM, malloc((size_t)1 << 62));
  for (int i = 0; i < 24; ++i) CHECK(((char*)small)[i] == 'x');
  free(small);
}

static void TestBadAlignments(void) {
  void* const untouched = (void*)0x1234;
  const size_t bad[] = {0, 1, 2, 4, 7, 9, 12, 24, 65, 96, SIZE_MAX};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    void* p = untouched;
    errno = 42;
    CHECK(posix_memalign(&p, bad[i], 16) == EINVAL);
    CHECK(p == untouched && errno == 42);
  }
  void* p = untouched;
  errno = 0;
  CHECK(posix_memalign(&p, 64, SIZE_MAX - 64) == ENOMEM);
  CHECK(p == untouched && errno == ENOMEM);
  // memalign and aligned_alloc raise to the next power of two, as far as there is one.
  void* raised = memalign(65, 10);
  CHECK(raised != NULL && IsAligned(raised, 128));
  free(raised);
  raised = aligned_alloc(65, 10);
  CHECK(raised != NULL ? IsAligned(raised, 128)
                       : !HasMallow() && errno == EINVAL);  // glibc refuses it since 2.38
  free(raised);
  raised = memalign(0, 10);
  CHECK(raised != NULL && IsAligned(raised, 16));
  free(raised);
  FAILS_WITH(EINVAL, memalign(SIZE_MAX / 2 + 2, 10));
  FAILS_WITH(EINVAL, aligned_alloc(SIZE_MAX, 10));
  FAILS_WITH(ENOMEM, memalign(SIZE_MAX / 2 + 1, 10));
}

static void TestEverySize(void) {
  for (size_t bytes = 0; bytes < 40000; bytes += bytes < 4200 ? 1 : 613) {
    unsigned char* p = malloc(bytes);
    CHECK(p != NULL && IsAligned(p, 16));
    const size_t usable = malloc_usable_size(p);
    CHECK(usable >= bytes);
    memset(p, 0xa5, usable);
    p = realloc(p, bytes + 1);
    for (size_t i = 0; i < bytes; ++i) CHECK(p[i] == 0xa5);
    free(p);
    unsigned char* zeroed = calloc(1, bytes);
    CHECK(zeroed != NULL);
    for (size_t i = 0; i < bytes; ++i) CHECK(zeroed[i] == 0);
    free(zeroed);
  }
  for (size_t bytes = 1 << 16; bytes <= 1 << 24; bytes *= 2) {
    for (size_t delta = 0; delta < 3; ++delta) {
      unsigned char* p = calloc(bytes + delta - 1, 1);
      for (size_t i = 0; i < bytes + delta - 1; ++i) CHECK(p[i] == 0);
      memset(p, 0x5a, malloc_usable_size(p));
      free(p);
    }
  }
}

static void TestEveryAlignment(void) {
  for (size_t alignment = 8; alignment <= 1 << 22; alignment *= 2) {
    for (size_t bytes = 0; bytes <= 1 << 20; bytes = bytes * 2 + 1) {
      void* p;
      CHECK(posix_memalign(&p, alignment, bytes) == 0 && IsAligned(p, alignment));
      memset(p, 1, malloc_usable_size(p));
      void* q = memalign(alignment, bytes);
      CHECK(q != NULL && IsAligned(q, alignment) && q != p && malloc_usable_size(q) >= bytes);
      memset(q, 2, bytes);
      q = realloc(q, bytes + 100);
      for (size_t i = 0; i < bytes; ++i) CHECK(((char*)q)[i] == 2);
      free(p);
      free(q);
    }
  }
  const size_t page = sysconf(_SC_PAGESIZE);
  void* v = valloc(10);
  void* w = pvalloc(page + 1);
  CHECK(v != NULL && IsAligned(v, page) && w != NULL && IsAligned(w, page));
  CHECK(malloc_usable_size(w) >= 2 * page);
  memset(w, 3, 2 * page);
  free(v);
  free(w);
}

static void TestRealloc(void) {
  size_t bytes = 1;
  unsigned char* p = NULL;
  // Up in steps of many kinds, down again, the content kept.
  for (; bytes < 3 << 20; bytes += bytes / 3 + 1) {
    p = realloc(p, bytes);
    CHECK(p != NULL);
    p[bytes - 1] = bytes % 251;
    if (bytes > 1) CHECK(p[0] == 1);
  }
  for (; bytes > 1; bytes -= bytes / 3 + 1) {
    p = realloc(p, bytes);
    CHECK(p != NULL && p[0] == 1);
  }
  CHECK(realloc(p, 0) == NULL);
  int* array = reallocarray(NULL, 10, sizeof(int));
  array[9] = 7;
  array = reallocarray(array, 100000, sizeof(int));
  CHECK(array != NULL && array[9] == 7);
  free(array);
}

// The names that libc has for its own: blocks may be mixed with free and realloc.
static void TestLibcNames(void) {
  free(__libc_malloc(100));
  free(__libc_calloc(10, 10));
  free(__libc_realloc(malloc(10), 1000));
  free(__libc_memalign(256, 100));
  free(__libc_valloc(100));
  free(__libc_pvalloc(100));
  __libc_free(malloc(100));
  __libc_free(memalign(256, 100));
  OldFree(malloc(100));
  if (__posix_memalign == NULL) return;
  void* p;
  CHECK(__posix_memalign(&p, 64, 64) == 0 && __posix_memalign(&p, 65, 64) == EINVAL);
  __libc_free(realloc(p, 100));
}

static void TestDuplicates(void) {
  char* text = strdup("duplicate");
  CHECK(strcmp(text, "duplicate") == 0);
  char* some = strndup(text, 3);
  CHECK(strcmp(some, "dup") == 0);
  char* all = strndup(text, 100);
  CHECK(strcmp(all, text) == 0);
  const char unterminated[3] = {'a', 'b', 'c'};
  char* bounded = strndup(unterminated, 3);
  CHECK(strcmp(bounded, "abc") == 0);
  wchar_t* wide = wcsdup(L"wide");
  CHECK(wcscmp(wide, L"wide") == 0);
  char* empty = strdup("");
  CHECK(empty[0] == 0);
  free(text);
  free(some);
  free(all);
  free(bounded);
  free(wide);
  free(empty);
}

// C23; glibc has them from 2.43.
static void TestSizedFree(void) {
  void (*sized)(void*, size_t) = free_sized;
  HIDE(sized);
  CHECK(sized != NULL || !HasMallow());
  if (sized == NULL) return;
  free_sized(NULL, 0);
  free_sized(malloc(100), 100);
  free_sized(calloc(3, 100), 300);
  free_sized(malloc(1 << 20), 1 << 20);
  free_aligned_sized(NULL, 64, 0);
  free_aligned_sized(aligned_alloc(256, 512), 256, 512);
}

static void TestFreeKeepsErrno(void) {
  for (size_t bytes = 8; bytes <= 1 << 26; bytes *= 2) {
    void* p = malloc(bytes);
    void* q = memalign(4096, bytes);
    void* r = malloc(bytes);
    errno = 4711;
    free(p);
    free(q);
    CHECK(realloc(r, 0) == NULL);
    free(NULL);
    CHECK(errno == 4711);
  }
}

static void TestMallopt(void) {
  CHECK(mallopt(M_MMAP_THRESHOLD, 64 * 1024) == 1);
  CHECK(mallopt(M_MXFAST, 0) == 1);
  CHECK(mallopt(M_MXFAST, 1 << 20) == 0);
  CHECK(mallopt(M_ARENA_MAX, 1) == 1);
  CHECK(mallopt(M_TRIM_THRESHOLD, 1 << 20) == 1);
}

int main(void) {
  TestNothing();
  TestTooLarge();
  TestBadAlignments();
  TestEverySize();
  TestEveryAlignment();
  TestRealloc();
  TestLibcNames();
  TestDuplicates();
  TestSizedFree();
  TestFreeKeepsErrno();
  TestMallopt();
  return 0;
}
