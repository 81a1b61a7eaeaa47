/* For the programs of this suite: a check that says what failed, and a look at the end whether the program really
 * ran on the malloc that the test names (EXPECT_MALLOC=glibc, mallow or recorded). */
#ifndef MALLOW_TEST_SURFACE_CHECK_H
#define MALLOW_TEST_SURFACE_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif
/* Not weak where an archive has to bring them (MALLOW_LINKED). */
#ifdef MALLOW_LINKED
#define MALLOW_MAYBE
#else
#define MALLOW_MAYBE __attribute__((weak))
#endif
MALLOW_MAYBE const char* mallow_version(void);
MALLOW_MAYBE int mallow_is_recording(void);
#ifdef __cplusplus
}
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
      _exit(1);                                                                                 \
    }                                                                                           \
  } while (0)

/* Keeps the compiler from knowing what a pointer or a size is. */
#define HIDE(value) __asm__ volatile("" : "+r"(value) : : "memory")

static inline int HasMallow(void) {
  const char* (*version)(void) = mallow_version;
  HIDE(version);
  return version != NULL;
}

/* The memory that the process has now. Allocates for as long as it reads. */
static inline size_t ResidentBytes(void) {
  FILE* statm = fopen("/proc/self/statm", "r");
  unsigned long total, resident;
  CHECK(statm != NULL && fscanf(statm, "%lu %lu", &total, &resident) == 2);
  fclose(statm);
  return resident * sysconf(_SC_PAGESIZE);
}

__attribute__((destructor)) static void CheckMalloc(void) {
  const char* expected = getenv("EXPECT_MALLOC");
  if (expected == NULL) return;
  CHECK(HasMallow() == (strcmp(expected, "glibc") != 0));
  if (HasMallow()) CHECK(mallow_is_recording() == (strcmp(expected, "recorded") == 0));
}

#endif
