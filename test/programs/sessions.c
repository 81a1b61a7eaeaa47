/* Records itself through mallow.h: sessions FOLDER THREADS SESSIONS CALLS
 *
 * In each session THREADS threads make CALLS allocations of 24 bytes each in counted(), release half of them, and release
 * one block in ten that they had before; between sessions they go on in uncounted(), keeping blocks across. Session i is
 * recorded into FOLDER/i.mallow, of which a snapshot goes to FOLDER/i.snapshot.mallow before the end. Where nothing is
 * recorded, before the first session and in children that are forked after each, a snapshot is refused. Every block is
 * filled and looked at before it is released. What is refused, for want of room too, leaves no trace. */
#include <errno.h>
#include <mallow/mallow.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

__typeof__(mallow_record_start) mallow_record_start __attribute__((weak));
__typeof__(mallow_record_stop) mallow_record_stop __attribute__((weak));
__typeof__(mallow_record_snapshot) mallow_record_snapshot __attribute__((weak));
__typeof__(mallow_is_recording) mallow_is_recording __attribute__((weak));

enum { kBytes = 24, kOld = 1000, kMostThreads = 16 };

static int threads, sessions, calls;
static const char* folder;
static pthread_barrier_t barrier;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

static void fill(unsigned char* p, int value) { memset(p, value & 0xff, kBytes); }

static void look_and_free(unsigned char* p) {
  for (int i = 1; i < kBytes; ++i) check(p[i] == p[0], "a block was written to by somebody else");
  free(p);
}

static unsigned char* __attribute__((noinline)) counted(void) { return malloc(kBytes); }
static unsigned char* __attribute__((noinline)) uncounted(void) { return malloc(kBytes); }

static void path(char* to, int session, const char* kind) {
  sprintf(to, "%s/%d%s.mallow", folder, session, kind);
  check(mkdir(to, 0700) == 0, "mkdir");
}

static int start_without_room(const char* name) {
  struct rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit none = {4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  const int started = mallow_record_start(name);
  setrlimit(RLIMIT_FSIZE, &before);
  return started;
}

static int child_is_refused(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) _exit(mallow_record_snapshot(folder) != EALREADY);
  return waitpid(child, &status, 0) == child && status == 0;
}

static void* work(void* argument) {
  const int self = (int)(long)argument;
  unsigned char* old[kOld] = {0};
  unsigned char** mine = malloc((size_t)calls * sizeof(*mine));
  char name[4096];
  for (int session = 0; session < sessions; ++session) {
    for (int i = 0; i < 5 * kOld; ++i) {
      unsigned char** slot = &old[(i * 7 + self) % kOld];
      if (*slot != NULL) look_and_free(*slot);
      *slot = uncounted();
      fill(*slot, i);
    }
    pthread_barrier_wait(&barrier);
    if (self == 0) {
      path(name, session, "");
      check(start_without_room(name) == EIO, "a start without room");
      check(mallow_record_start(name) == 0, "start");
      check(mallow_record_start(name) != 0, "a second start");
      check(mallow_is_recording() == 1, "is recording");
    }
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < calls; ++i) {
      mine[i] = counted();
      fill(mine[i], i);
      if (i % 2 == 0) look_and_free(mine[i]);
    }
    for (int i = 0; i < kOld; i += 10) {
      look_and_free(old[i]);
      old[i] = NULL;
    }
    pthread_barrier_wait(&barrier);
    if (self == 0) {
      path(name, session, ".snapshot");
      check(mallow_record_snapshot(name) == 0, "snapshot");
      check(mallow_record_stop() == 0, "stop");
      check(mallow_record_stop() != 0, "a second stop");
      check(mallow_is_recording() == 0, "is not recording");
      check(child_is_refused(), "a snapshot in a child");
    }
    pthread_barrier_wait(&barrier);
    for (int i = 1; i < calls; i += 2) look_and_free(mine[i]);
  }
  for (int i = 0; i < kOld; ++i) free(old[i]);
  free(mine);
  return NULL;
}

int main(int count, char** arguments) {
  if (count != 5 || mallow_record_start == NULL) return 2;
  folder = arguments[1];
  threads = atoi(arguments[2]);
  sessions = atoi(arguments[3]);
  calls = atoi(arguments[4]);
  pthread_t ids[kMostThreads];
  if (threads > kMostThreads) return 2;
  check(mallow_record_snapshot(folder) == EALREADY, "a snapshot of nothing");
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (long t = 1; t < threads; ++t) pthread_create(&ids[t], NULL, work, (void*)t);
  work((void*)0);
  for (int t = 1; t < threads; ++t) pthread_join(ids[t], NULL);
  return 0;
}
