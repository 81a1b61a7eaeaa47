// A counting preload over glibc's malloc: the independent counter that recordings are compared with.
//
// Counts calls by the function that the caller called: operator new is a new, not a malloc; strdup is a
// strdup. A call that returns no block is `failed` and nothing else; free(NULL) is `free_nulls`; realloc(p,
// 0) that frees is a free. Bytes are those requested by the calls that returned a block.
//
// The folder comes from MALLOW_OPTIONS=record=FOLDER, the same variable that libmallow reads, so that a
// counted and a recorded run can have environments of equal names and sizes. It is read from
// /proc/self/environ, because ld.so calls malloc before libc knows the environment.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "layout.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
extern void *__libc_memalign(size_t, size_t);
extern void *__libc_valloc(size_t);
extern void *__libc_pvalloc(size_t);

#define EXPORT __attribute__((visibility("default")))

static char folder[PATH_MAX];
// What is counted while there is no folder, or when the file could not be made.
static struct CountFile unwritten;
static struct CountFile *file = &unwritten;
// One word on a page of its own that the kernel clears in fork children: 0 means "no file yet".
static int *made;
static __thread bool within_next __attribute__((tls_model("initial-exec")));

static void read_folder(void) {
  static const char kName[] = "MALLOW_OPTIONS=record=";
  int descriptor = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  size_t matched = 0, length = 0;
  bool at_name = true, copying = false;
  char piece[4096];
  for (ssize_t got; (got = read(descriptor, piece, sizeof piece)) > 0;) {
    for (ssize_t i = 0; i < got; i++) {
      char c = piece[i];
      if (copying) {
        bool end = c == '\0' || c == ':' || length + 1 == sizeof folder;
        folder[length++] = end ? '\0' : c;
        if (end) goto done;
      } else if (c == '\0') {
        at_name = true;
        matched = 0;
      } else if (at_name && c == kName[matched]) {
        copying = ++matched == sizeof kName - 1;
      } else {
        at_name = false;
      }
    }
  }
done:
  close(descriptor);
}

static char *append_number(char *end, uint64_t number) {
  char digits[24];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while (number /= 10);
  while (count) *end++ = digits[--count];
  *end = '\0';
  return end;
}

static struct CountFile *make_file(void) {
  if (!folder[0]) return &unwritten;
  char name[PATH_MAX + 64];
  int descriptor = -1;
  for (unsigned sequence = 0; sequence < 100000 && descriptor < 0; sequence++) {
    char *end = stpcpy(name, folder);
    end = append_number(stpcpy(end, "/count-"), (uint64_t)getpid());
    append_number(stpcpy(end, "-"), sequence);
    descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno != EEXIST) return &unwritten;
  }
  void *mapped = MAP_FAILED;
  if (ftruncate(descriptor, sizeof(struct CountFile)) == 0)
    mapped = mmap(NULL, sizeof(struct CountFile), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (mapped == MAP_FAILED) return &unwritten;
  struct CountFile *result = mapped;
  result->pid = (uint64_t)getpid();
  if (readlink("/proc/self/exe", result->executable, sizeof result->executable - 1) < 0)
    result->executable[0] = '\0';
  result->magic = COUNT_MAGIC;
  return result;
}

// The file of this process. Its first use is before there are threads; in a fork child only one thread
// exists.
static struct CountFile *current(void) {
  if (made && *made) return file;
  int saved = errno;
  if (!made) {
    read_folder();
    made =
        mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED || madvise(made, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK) != 0) abort();
  }
  file = make_file();
  *made = 1;
  errno = saved;
  return file;
}

__attribute__((constructor)) static void start(void) { current(); }

static void add(enum CountKey key, uint64_t amount) {
  if (!within_next) __atomic_fetch_add(&current()->values[key], amount, __ATOMIC_RELAXED);
}

static void *counted(enum CountKey key, void *block, size_t bytes) {
  if (!block) {
    add(kFailed, 1);
    return NULL;
  }
  add(key, 1);
  add(kBytes, bytes);
  return block;
}

EXPORT void *malloc(size_t bytes) { return counted(kMallocs, __libc_malloc(bytes), bytes); }

EXPORT void *calloc(size_t count, size_t bytes) {
  return counted(kCallocs, __libc_calloc(count, bytes), count * bytes);
}

EXPORT void *realloc(void *old, size_t bytes) {
  void *block = __libc_realloc(old, bytes);
  if (!block && old && bytes == 0) {
    add(kFrees, 1);
    return NULL;
  }
  return counted(kReallocs, block, bytes);
}

EXPORT void *reallocarray(void *old, size_t count, size_t bytes) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    add(kFailed, 1);
    errno = ENOMEM;
    return NULL;
  }
  return realloc(old, total);
}

static void release(void *block) {
  add(block ? kFrees : kFreeNulls, 1);
  __libc_free(block);
}

EXPORT void free(void *block) { release(block); }
EXPORT void free_sized(void *block, size_t bytes) {
  (void)bytes;
  release(block);
}
EXPORT void free_aligned_sized(void *block, size_t alignment, size_t bytes) {
  (void)alignment, (void)bytes;
  release(block);
}

static char *duplicate(const char *text, size_t length) {
  char *block = counted(kStrdups, __libc_malloc(length + 1), length + 1);
  if (!block) return NULL;
  memcpy(block, text, length);
  block[length] = '\0';
  return block;
}

EXPORT char *strdup(const char *text) { return duplicate(text, strlen(text)); }
EXPORT char *strndup(const char *text, size_t most) { return duplicate(text, strnlen(text, most)); }

EXPORT wchar_t *wcsdup(const wchar_t *text) {
  size_t bytes = (wcslen(text) + 1) * sizeof *text;
  void *block = counted(kWcsdups, __libc_malloc(bytes), bytes);
  return block ? memcpy(block, text, bytes) : NULL;
}

EXPORT void *memalign(size_t alignment, size_t bytes) {
  return counted(kAligned, __libc_memalign(alignment, bytes), bytes);
}
EXPORT void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
EXPORT void *valloc(size_t bytes) { return counted(kAligned, __libc_valloc(bytes), bytes); }
EXPORT void *pvalloc(size_t bytes) { return counted(kAligned, __libc_pvalloc(bytes), bytes); }

EXPORT int posix_memalign(void **result, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    add(kFailed, 1);
    return EINVAL;
  }
  int saved = errno;
  void *block = memalign(alignment, bytes);
  errno = saved;
  if (!block) return ENOMEM;
  *result = block;
  return 0;
}

// operator new by its mangled names, so that this file needs no C++. A failing one is handed on, uncounted
// but for the failure, to the next definition, which knows new_handler and how to throw.
static void leave(bool *outer) { within_next = *outer; }

// What throws brings these.
__asm__(".weak __gcc_personality_v0\n\t.weak _Unwind_Resume");

#define NEW(name, parameters, arguments, call, bytes)                       \
  EXPORT void *name parameters {                                            \
    void *block = call;                                                     \
    if (block) return counted(kNews, block, bytes);                         \
    add(kFailed, 1);                                                        \
    __attribute__((cleanup(leave))) bool outer = within_next;               \
    within_next = true;                                                     \
    void *(*next)parameters = (void *(*)parameters)dlsym(RTLD_NEXT, #name); \
    return next arguments;                                                  \
  }

NEW(_Znwm, (size_t bytes), (bytes), __libc_malloc(bytes), bytes)
NEW(_Znam, (size_t bytes), (bytes), __libc_malloc(bytes), bytes)
NEW(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *tag), (bytes, tag), __libc_malloc(bytes), bytes)
NEW(_ZnamRKSt9nothrow_t, (size_t bytes, const void *tag), (bytes, tag), __libc_malloc(bytes), bytes)
NEW(_ZnwmSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment),
    __libc_memalign(alignment, bytes), bytes)
NEW(_ZnamSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment),
    __libc_memalign(alignment, bytes), bytes)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *tag),
    (bytes, alignment, tag), __libc_memalign(alignment, bytes), bytes)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *tag),
    (bytes, alignment, tag), __libc_memalign(alignment, bytes), bytes)

#define DELETE(name, ...) \
  EXPORT void name(void *block, ##__VA_ARGS__) { release(block); }

DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm, __attribute__((unused)) size_t bytes)
DELETE(_ZdaPvm, __attribute__((unused)) size_t bytes)
DELETE(_ZdlPvRKSt9nothrow_t, __attribute__((unused)) const void *tag)
DELETE(_ZdaPvRKSt9nothrow_t, __attribute__((unused)) const void *tag)
DELETE(_ZdlPvSt11align_val_t, __attribute__((unused)) size_t alignment)
DELETE(_ZdaPvSt11align_val_t, __attribute__((unused)) size_t alignment)
DELETE(_ZdlPvmSt11align_val_t, __attribute__((unused)) size_t bytes, __attribute__((unused)) size_t alignment)
DELETE(_ZdaPvmSt11align_val_t, __attribute__((unused)) size_t bytes, __attribute__((unused)) size_t alignment)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, __attribute__((unused)) size_t alignment,
       __attribute__((unused)) const void *tag)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, __attribute__((unused)) size_t alignment,
       __attribute__((unused)) const void *tag)
