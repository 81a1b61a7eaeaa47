/* A program of this suite is a list of cases. Each runs in a process of its own, so that one that damages the heap,
 * hangs or dies leaves the others their say; the program prints a line for each and ends with 1 when one failed.
 *
 * Nothing here knows which malloc it runs on: what a case asks for is what C, POSIX or malloc.h's manual promises, or
 * what programs that run well on glibc rely on; a case says so where it is the latter. */
#ifndef MALLOW_TEST_CONFORMANCE_CASES_H
#define MALLOW_TEST_CONFORMANCE_CASES_H

#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "../surface/check.h"

struct Case {
  const char* name;
  void (*run)(void);
};

enum { kCaseSeconds = 100 };

static inline int IsAligned(const void* p, size_t alignment) { return (uintptr_t)p % alignment == 0; }

static inline int AllBytesAre(const void* p, size_t bytes, unsigned char value) {
  const unsigned char* byte = (const unsigned char*)p;
  return bytes == 0 || (byte[0] == value && memcmp(byte, byte + 1, bytes - 1) == 0);
}

/* Calls `f` with every size up to 4096, and then with the last two sizes of each class and the first of the next, up
 * to `most`. Where a malloc's classes end is what it says of itself: malloc_usable_size. */
static inline void ForEachSize(size_t most, void (*f)(size_t bytes, void* context), void* context) {
  size_t bytes = 0;
  for (; bytes <= 4096; ++bytes) f(bytes, context);
  while (bytes <= most) {
    void* p = malloc(bytes);
    CHECK(p != NULL);
    const size_t end = malloc_usable_size(p);
    free(p);
    CHECK(end >= bytes);
    f(bytes, context);
    if (end > bytes + 1) f(end - 1, context);
    if (end > bytes) f(end, context);
    /* Where every page is a class, one in 16 of them. */
    bytes = end + 1 > bytes + bytes / 64 ? end + 1 : bytes + bytes / 64;
  }
}

/* True if it ended with 0; says what happened otherwise. */
static inline int RunCase(const struct Case* c) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kCaseSeconds);
    c->run();
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    printf("%s: cannot be run\n", c->name);
    return 0;
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    printf("%s: hangs\n", c->name);
  } else if (WIFSIGNALED(status)) {
    printf("%s: dies (signal %d)\n", c->name, WTERMSIG(status));
  } else {
    printf("%s: %s\n", c->name, WEXITSTATUS(status) == 0 ? "pass" : "fails");
  }
  return status == 0;
}

static inline int RunCases(const struct Case* cases, size_t count) {
  int failed = 0;
  for (size_t i = 0; i < count; ++i) failed += !RunCase(&cases[i]);
  return failed != 0;
}

#define RUN_CASES(cases) RunCases(cases, sizeof(cases) / sizeof((cases)[0]))

#endif
