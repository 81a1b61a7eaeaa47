/* Tests that hold code to a number of allocations.
 *
 *   #include <gtest/gtest.h>      // if it is used: in front of this header
 *   #include <mallow/expect.h>
 *
 *   TEST(Name, AllocatesOnce) {
 *     MALLOW_EXPECT_ALLOCATIONS(1) {
 *       free(MakeName("Ada"));
 *     }
 *   }
 *
 * Counted are the calls of malloc and its family and of operator new that the calling thread makes inside the braces,
 * without what libc does on its own account (the buffer of a stream); linked with -static, where libc is a part of the
 * program, that counts too. The braces may be left by break, return or an exception. For C++, and for C from C99 on as
 * GCC and Clang have it.
 *
 * The test has to run on libmallow: linked with it, or LD_PRELOAD=$(mallow lib). Without, one line on stderr says that
 * nothing is counted, and the code runs; with MALLOW_EXPECT=required in the environment every expectation fails then.
 * Inside the first one the process begins to be recorded (which mallow record may have done already), and goes on to
 * the end: it costs the tests that follow some part of their time.
 *
 * What is not as expected fails the test: as ADD_FAILURE_AT of GoogleTest does, where that is known when this header is
 * included, else with a line on stderr and abort(). MALLOW_EXPECT_FAILED(file, line, message), defined before, does
 * something else. The message names a recording of the moment, and mallow report --region shows in it what the braces
 * allocated.
 */
#ifndef MALLOW_EXPECT_H
#define MALLOW_EXPECT_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mallow/mallow.h"

#ifndef MALLOW_EXPECT_FAILED
#if defined(__cplusplus) && defined(ADD_FAILURE_AT)
#define MALLOW_EXPECT_FAILED(file, line, message) ADD_FAILURE_AT(file, line) << (message)
#else
#define MALLOW_EXPECT_FAILED(file, line, message) \
  (fprintf(stderr, "%s:%d: %s\n", file, line, message), fflush(NULL), abort())
#endif
#endif

/* Exactly so many allocations; at most so many. */
#define MALLOW_EXPECT_ALLOCATIONS(count) MALLOW_EXPECT_(count, count)
#define MALLOW_EXPECT_ALLOCATIONS_AT_MOST(count) MALLOW_EXPECT_(0, count)

/* What follows is for the macros alone. */

struct mallow_expectation_ {
  uint64_t least, most;
  const char* file;
  int line;
  int entered;
  int counting;
  unsigned depth;
  struct mallow_thread_statistics before;
};

#define MALLOW_EXPECT_FUNCTION_ static __attribute__((noinline, unused))

/* Makes a folder of a new name; 0 when it cannot. By functions that strict C has too: mkdtemp is declared where a program
 * asks for it. */
MALLOW_EXPECT_FUNCTION_ int mallow_expect_folder_(char* folder, size_t size, const char* suffix) {
  const int pid = getpid();
  for (int i = 1; i < 100; i++) {
    snprintf(folder, size, "/tmp/mallow-expect-%d.%d%s", pid, i, suffix);
    if (mkdir(folder, 0700) == 0) return 1;
  }
  return 0;
}

/* Begins to record the process; 0 when it cannot be. Nobody needs the file: what was mapped stays. */
MALLOW_EXPECT_FUNCTION_ int mallow_expect_record_(void) {
  int (*is_recording)(void);
  int (*start)(const char*);
  MALLOW_FIND_(is_recording, "mallow_is_recording");
  MALLOW_FIND_(start, "mallow_record_start");
  if (!is_recording || !start) return 0;
  if (is_recording()) return 1;
  char folder[64], path[64 + 256];
  if (!mallow_expect_folder_(folder, sizeof(folder), "")) return 0;
  const int error = start(folder);
  DIR* entries = opendir(folder);
  struct dirent* entry;
  while (entries && (entry = readdir(entries))) {
    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.') unlink(path);
  }
  if (entries) closedir(entries);
  rmdir(folder);
  return error == 0 || is_recording();
}

MALLOW_EXPECT_FUNCTION_ const char* mallow_expect_name_(const char* file) {
  const char* slash = strrchr(file, '/');
  return slash ? slash + 1 : file;
}

/* A recording of what was counted so far, in a folder whose name it writes; 0 when it cannot be had. */
MALLOW_EXPECT_FUNCTION_ int mallow_expect_snapshot_(char* folder, size_t size) {
  int (*snapshot)(const char*);
  MALLOW_FIND_(snapshot, "mallow_record_snapshot");
  return snapshot && mallow_expect_folder_(folder, size, ".mallow") && snapshot(folder) == 0;
}

MALLOW_EXPECT_FUNCTION_ void mallow_expect_enter_(struct mallow_expectation_* e) {
  size_t (*statistics)(struct mallow_thread_statistics*, size_t);
  MALLOW_FIND_(statistics, "mallow_thread_statistics");
  if (statistics && mallow_expect_record_()) {
    char name[121];
    snprintf(name, sizeof(name), "%s:%d", mallow_expect_name_(e->file), e->line);
    e->depth = mallow_region_begin(name);
    e->counting = statistics(&e->before, sizeof(e->before)) == sizeof(e->before);
    if (e->counting) return;
    mallow_region_return_to(e->depth);
  }
  static const char why[] =
      "allocations are not counted: this is not running on libmallow (LD_PRELOAD=$(mallow lib)), or cannot "
      "be recorded";
  const char* setting = getenv("MALLOW_EXPECT");
  if (setting && strcmp(setting, "required") == 0) {
    MALLOW_EXPECT_FAILED(e->file, e->line, why);
    return;
  }
  static int said;
  if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) fprintf(stderr, "%s:%d: %s\n", e->file, e->line, why);
}

MALLOW_EXPECT_FUNCTION_ void mallow_expect_leave_(struct mallow_expectation_* e) {
  if (e->entered != 1) return;
  e->entered = 2;
  if (!e->counting) return;
  size_t (*statistics)(struct mallow_thread_statistics*, size_t);
  MALLOW_FIND_(statistics, "mallow_thread_statistics");
  struct mallow_thread_statistics after;
  const size_t known = statistics(&after, sizeof(after));
  mallow_region_return_to(e->depth);
  char message[512], folder[64];
  if (known != sizeof(after)) {
    MALLOW_EXPECT_FAILED(e->file, e->line, "allocations are not counted any more: recording has ended");
    return;
  }
  const unsigned long count = after.allocations - e->before.allocations;
  const unsigned long bytes = after.bytes - e->before.bytes;
  const unsigned long most = e->most;
  if (count >= e->least && count <= most) return;
  snprintf(message, sizeof(message), "%lu allocation%s of %lu bytes, and %s%lu expected", count,
           count == 1 ? "" : "s", bytes, e->least == e->most ? "" : "at most ", most);
  if (mallow_expect_snapshot_(folder, sizeof(folder))) {
    const size_t length = strlen(message);
    snprintf(message + length, sizeof(message) - length,
             "; what they are: mallow report --region '%.100s:%d' %s", mallow_expect_name_(e->file), e->line,
             folder);
  }
  MALLOW_EXPECT_FAILED(e->file, e->line, message);
}

/* 1 the first time: for the condition of a loop that is no loop. */
MALLOW_EXPECT_FUNCTION_ int mallow_expect_once_(struct mallow_expectation_* e) {
  if (e->entered) {
    mallow_expect_leave_(e);
    return 0;
  }
  e->entered = 1;
  mallow_expect_enter_(e);
  return 1;
}

#ifdef __cplusplus

namespace mallow {

class Expectation_ {
 public:
  Expectation_(uint64_t least, uint64_t most, const char* file, int line) : state_() {
    state_.least = least;
    state_.most = most;
    state_.file = file;
    state_.line = line;
  }
  ~Expectation_() { mallow_expect_leave_(&state_); }
  bool Once() { return mallow_expect_once_(&state_) != 0; }

 private:
  Expectation_(const Expectation_&);
  Expectation_& operator=(const Expectation_&);

  mallow_expectation_ state_;
};

}  // namespace mallow

#define MALLOW_EXPECT_(least, most) \
  for (::mallow::Expectation_ mallow_expecting_(least, most, __FILE__, __LINE__); mallow_expecting_.Once();)

#else

#define MALLOW_EXPECT_(least, most)                                                                  \
  for (struct mallow_expectation_ mallow_expecting_ __attribute__((cleanup(mallow_expect_leave_))) = \
           {(uint64_t)(least), (uint64_t)(most), __FILE__, __LINE__, 0, 0, 0, {0, 0, 0}};            \
       mallow_expect_once_(&mallow_expecting_);)

#endif

#endif
