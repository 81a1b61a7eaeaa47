// late_blocks local|global LIBMALLOW: a process that runs on libc's malloc loads libmallow. What was bound to libc stays
// bound to it. Blocks of libc that come to libmallow's free and realloc are known for what they are and go to libc;
// what is no block at all ends the process there.
#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "check.h"

static void* (*late_malloc)(size_t);
static void* (*late_realloc)(void*, size_t);
static void (*late_free)(void*);
static size_t (*late_usable)(void*);

static int IsFilled(const char* p, size_t bytes, char value) {
  for (size_t i = 0; i < bytes; ++i) {
    if (p[i] != value) return 0;
  }
  return 1;
}

static void* Filled(size_t bytes) { return memset(malloc(bytes), 'x', bytes); }

static size_t BytesInUseOfLibc(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Every kind of block that libc makes.
static void TestBlocksOfLibc(void) {
  static const size_t kBytes[] = {0, 1, 24, 100, 1000, 2000, 100000, 1 << 20, 40 << 20};
  for (size_t i = 0; i < sizeof(kBytes) / sizeof(*kBytes); ++i) {
    const size_t bytes = kBytes[i];
    char* p = Filled(bytes);
    CHECK(late_usable(p) == 0);
    const size_t with = BytesInUseOfLibc();
    late_free(p);
    // Small blocks wait in libc's caches and count as in use there.
    if (bytes > 100000) CHECK(BytesInUseOfLibc() + bytes <= with);
    p = late_realloc(Filled(bytes), 2 * bytes + 10);
    CHECK(p != NULL && IsFilled(p, bytes, 'x') && malloc_usable_size(p) >= 2 * bytes + 10);
    free(p);
    CHECK(late_realloc(Filled(bytes), 0) == NULL);
  }
  void* aligned;
  CHECK(posix_memalign(&aligned, 4096, 100) == 0);
  late_free(aligned);
}

// Nothing of ours is mixed up with them.
static void TestBlocksOfOurs(void) {
  enum { kBlocks = 2000 };
  static char *ours[kBlocks], *theirs[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    ours[i] = memset(late_malloc(i), 'o', i);
    theirs[i] = memset(malloc(i), 't', i);
  }
  for (int i = 0; i < kBlocks; ++i) {
    CHECK(IsFilled(ours[i], i, 'o') && IsFilled(theirs[i], i, 't') && late_usable(ours[i]) >= (size_t)i);
    ours[i] = late_realloc(ours[i], 2 * i + 1);
    CHECK(IsFilled(ours[i], i, 'o'));
    late_free(i % 2 ? ours[i] : theirs[i]);
    if (i % 2) {
      free(theirs[i]);
    } else {
      late_free(ours[i]);
    }
  }
}

// The process ends by SIGABRT.
static void TestNoBlock(void (*release)(void*)) {
  const pid_t child = fork();
  if (child == 0) {
    char local[64] __attribute__((aligned(16))) = {0};
    char* p = local + 16;
    HIDE(p);
    release(p);
    _exit(0);
  }
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void ReallocFarMore(void* p) {
  p = late_realloc(p, 100000);
  HIDE(p);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  void* const before = Filled(1000);
  const int visible = strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  void* library = dlopen(argv[2], RTLD_NOW | visible);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
  late_malloc = (void* (*)(size_t))dlsym(library, "malloc");
  late_realloc = (void* (*)(void*, size_t))dlsym(library, "realloc");
  late_free = (void (*)(void*))dlsym(library, "free");
  late_usable = (size_t(*)(void*))dlsym(library, "malloc_usable_size");
  // Wherever libmallow stands, libc stands before it.
  CHECK(dlsym(RTLD_DEFAULT, "malloc") == (void*)malloc && late_malloc != malloc);
  late_free(before);
  late_free(NULL);
  TestBlocksOfLibc();
  TestBlocksOfOurs();
  TestNoBlock(late_free);
  TestNoBlock(ReallocFarMore);
  return 0;
}
