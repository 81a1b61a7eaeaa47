/* Every tc_ function that C has, with blocks that go from one family to the other. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include HEADER
#include EXTENSION_HEADER

#define CHECK(condition)                             \
  do {                                               \
    if (!(condition)) {                              \
      printf("line %d: %s\n", __LINE__, #condition); \
      return 1;                                      \
    }                                                \
  } while (0)

#if TC_VERSION_MAJOR < 1 || (TC_VERSION_MAJOR == 1 && TC_VERSION_MINOR < 6)
#error "redis would refuse this version"
#endif

static int IsZero(const char* p, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (p[i] != 0) return 0;
  }
  return 1;
}

/* The loop of a well-known comparison: the pair does not match, and every thousandth block has no bytes. */
static int Mismatched(void) {
  for (int i = 0; i < 100000; ++i) {
    void* p = tc_malloc(i % 1000);
    CHECK(p != NULL && tc_malloc_size(p) >= (size_t)(i % 1000));
    tc_delete(p);
  }
  free(tc_malloc(100));
  tc_free(malloc(100));
  tc_cfree(tc_new(100));
  tc_deletearray(tc_calloc(3, 5));
  tc_free_sized(tc_newarray(50), 1);
  tc_delete_sized(tc_memalign(64, 10), 0);
  tc_deletearray_sized(tc_malloc(1), 1000000);
  tc_free(NULL);
  tc_delete(NULL);
  return 0;
}

static int Family(void) {
  char* p = tc_calloc(1000, 7);
  CHECK(IsZero(p, 7000));
  memset(p, 1, 7000);
  p = tc_realloc(p, 100000);
  CHECK(p != NULL && p[0] == 1 && p[6999] == 1);
  CHECK(tc_realloc(p, 0) == NULL);
  p = tc_realloc(NULL, 10);
  CHECK(p != NULL);
  tc_free(p);
  errno = 0;
  CHECK(tc_calloc(SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
  CHECK(tc_malloc(SIZE_MAX) == NULL && tc_malloc_skip_new_handler(SIZE_MAX) == NULL);
  p = tc_malloc_skip_new_handler(9);
  CHECK(p != NULL);
  tc_free(p);
  return 0;
}

static int Aligned(void) {
  void* p;
  for (size_t alignment = sizeof(void*); alignment <= 1 << 20; alignment *= 2) {
    p = tc_memalign(alignment, 100);
    CHECK(p != NULL && (uintptr_t)p % alignment == 0);
    tc_free(p);
    CHECK(tc_posix_memalign(&p, alignment, 100) == 0 && (uintptr_t)p % alignment == 0);
    tc_free(p);
  }
  void* const before = p = &p;
  CHECK(tc_posix_memalign(&p, 24, 1) == EINVAL && tc_posix_memalign(&p, 2, 1) == EINVAL && p == before);
  CHECK(tc_posix_memalign(&p, 16, SIZE_MAX / 2) == ENOMEM && p == before);
  errno = 0;
  CHECK(tc_memalign(SIZE_MAX, 1) == NULL && errno == EINVAL);
  p = tc_valloc(1);
  CHECK((uintptr_t)p % 4096 == 0);
  tc_free(p);
  p = tc_pvalloc(1);
  CHECK((uintptr_t)p % 4096 == 0 && tc_malloc_size(p) >= 4096);
  tc_free(p);
  return 0;
}

static int Looks(void) {
  for (size_t bytes = 0; bytes < 3000000; bytes += bytes / 5 + 1) {
    for (int shift = 0; shift < 22; ++shift) {
      void* p = tc_memalign((size_t)1 << shift, bytes);
      CHECK(tc_malloc_size(p) == tc_nallocx(bytes, shift));
      tc_free(p);
    }
    void* p = tc_malloc(bytes);
    CHECK(MallocExtension_GetAllocatedSize(p) == MallocExtension_GetEstimatedAllocatedSize(bytes));
    tc_free(p);
  }
  CHECK(tc_malloc_size(NULL) == 0 && tc_nallocx(SIZE_MAX, 0) == 0);
  int major = 0, minor = 0;
  const char* patch = NULL;
  CHECK(strcmp(tc_version(&major, &minor, &patch), TC_VERSION_STRING) == 0);
  CHECK(major == TC_VERSION_MAJOR && minor == TC_VERSION_MINOR && strcmp(patch, TC_VERSION_PATCH) == 0);
  CHECK(tc_version(NULL, NULL, NULL) != NULL);
  void* kept = tc_malloc(1 << 24);
  CHECK(tc_mallinfo2().hblkhd >= 1 << 24 && tc_mallinfo().hblkhd >= 1 << 24);
  tc_free(kept);
  CHECK(tc_mallopt(1, 0) == 1);
  return 0;
}

static int Extension(void) {
  size_t before, during, value;
  int on_the_stack, blocks, histogram[kMallocExtensionHistogramSize], sum = 0;
  char text[2000], cut[8];
  CHECK(MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &before));
  char* p = tc_malloc(1 << 24);
  CHECK(MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &during));
  CHECK(during >= before + (1 << 24));
  CHECK(MallocExtension_GetOwnership(p) == MallocExtension_kOwned);
  CHECK(MallocExtension_GetOwnership(&on_the_stack) == MallocExtension_kNotOwned);
  CHECK(MallocExtension_GetAllocatedSize(&on_the_stack) == 0);
  CHECK(MallocExtension_VerifyAllMemory() && MallocExtension_VerifyNewMemory(p));
  CHECK(MallocExtension_VerifyMallocMemory(p) && MallocExtension_VerifyArrayNewMemory(NULL));
  CHECK(!MallocExtension_VerifyMallocMemory(&on_the_stack));
  // Within blocks, and where one was.
  char* small = tc_malloc(100);
  CHECK(MallocExtension_GetAllocatedSize(small + 16) == 0 && !MallocExtension_VerifyNewMemory(small + 1));
  tc_free(small);
  for (size_t at = 1; at < 1 << 24; at *= 2) {
    CHECK(MallocExtension_GetAllocatedSize(p + at) == 0 && !MallocExtension_VerifyMallocMemory(p + at));
  }
  CHECK(MallocExtension_MallocMemoryStats(&blocks, &value, histogram) == 1 && value >= 1 << 24);
  for (int i = 0; i < kMallocExtensionHistogramSize; ++i) sum += histogram[i];
  CHECK(sum == blocks && blocks >= 1);
  memset(p, 1, 1 << 24);
  tc_free(p);
  MallocExtension_ReleaseToSystem(1);
  MallocExtension_MarkThreadTemporarilyIdle();
  MallocExtension_MarkThreadBusy();
  MallocExtension_MarkThreadIdle();
  CHECK(MallocExtension_GetThreadCacheSize() < 1 << 20);
  MallocExtension_ReleaseFreeMemory();
  CHECK(MallocExtension_GetAllocatedSize(p) == 0 && !MallocExtension_VerifyMallocMemory(p));
  CHECK(MallocExtension_GetNumericProperty("tcmalloc.pageheap_unmapped_bytes", &value) && value >= 1 << 24);
  CHECK(MallocExtension_GetNumericProperty("tcmalloc.pageheap_committed_bytes", &during));
  CHECK(MallocExtension_GetNumericProperty("generic.total_physical_bytes", &value) && value > during);
  CHECK(value < during + (8 << 20));  // what is in use of our tables, not the addresses that they have
  CHECK(!MallocExtension_GetNumericProperty("tcmalloc.no_such_thing", &value));
  CHECK(!MallocExtension_SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", 1));
  MallocExtension_GetStats(text, sizeof(text));
  CHECK(strstr(text, "tcmalloc.pageheap_free_bytes\n") != NULL);
  MallocExtension_GetStats(cut, sizeof(cut));
  CHECK(strcmp(cut, "mallow:") == 0);
  return 0;
}

int main(void) {
  if (Mismatched() || Family() || Aligned() || Looks() || Extension()) return 1;
  tc_malloc_stats();
  puts("mallow");
  return 0;
}
