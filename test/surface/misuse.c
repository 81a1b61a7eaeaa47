// misuse WHAT [handled]: damage that glibc detects is detected, and some more. On libmallow the process ends by SIGABRT after one
// sentence on descriptor 2, which says what is wrong and with which address; on glibc, by SIGABRT. `handled`: a handler of
// SIGABRT that allocates finds a heap that works.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "check.h"

enum { kLarge = 1 << 20, kKept = 64 };

// Behind zeros: glibc takes what stands there for the size of a block.
static char zeros_and_global[80] __attribute__((aligned(16)));
#define global (zeros_and_global + 16)
MALLOW_MAYBE void free_sized(void*, size_t);

// The address that the sentence has to name, left for the parent.
static char** culprit;

static char* Note(char* p) {
  HIDE(p);
  *culprit = p;
  return p;
}

static void FreeTwice(void) {
  char* p = malloc(100);
  free(p);
  p = Note(p);
  free(p);
}

static void FreeTwiceWithOneBetween(void) {
  char* p = malloc(100);
  char* q = malloc(100);
  free(p);
  free(q);
  p = Note(p);
  free(p);
}

// Enough frees for the block to leave the thread cache twice.
static void FreeTwiceFoundLater(void) {
  static void* others[5000];
  char* p = malloc(100);
  for (int i = 0; i < 5000; ++i) others[i] = malloc(100);
  free(p);
  for (int i = 0; i < 2500; ++i) free(others[i]);
  p = Note(p);
  free(p);
  for (int i = 2500; i < 5000; ++i) free(others[i]);
  malloc_trim(0);
}

static void FreeLargeTwice(void) {
  char* p = malloc(kLarge);
  free(p);
  p = Note(p);
  free(p);
}

// With others in between, and no cache that still has it.
static void FreeLargeTwiceAfterOthers(void) {
  char* p = malloc(kLarge);
  void* others[kKept];
  for (int i = 0; i < kKept; ++i) others[i] = malloc(kLarge);
  free(p);
  for (int i = 0; i < kKept; ++i) free(others[i]);
  malloc_trim(0);
  p = Note(p);
  free(p);
}

static void* FreeIt(void* p) {
  free(p);
  return NULL;
}

static void FreeElsewhere(void* p) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, FreeIt, p) == 0 && pthread_join(thread, NULL) == 0);
}

static void FreeLargeTwiceInThreads(void) {
  char* p = malloc(kLarge);
  FreeElsewhere(p);
  p = Note(p);
  free(p);
}

static void FreeLargeHereAndElsewhere(void) {
  char* p = malloc(kLarge);
  free(p);
  p = Note(p);
  FreeElsewhere(p);
}

static void FreeAt(char* p) {
  p = Note(p);
  free(p);
}

static void FreeInterior(void) { FreeAt((char*)malloc(100) + 16); }

static void FreeInteriorOfLarge(void) { FreeAt((char*)malloc(kLarge) + 16); }
static void FreeInteriorPageOfLarge(void) { FreeAt((char*)malloc(kLarge) + 65536); }
static void FreeOddAddressInLarge(void) { FreeAt((char*)malloc(kLarge) + 1); }
static void FreeEndOfLarge(void) { FreeAt((char*)malloc(kLarge) + kLarge - 8); }
static void FreeGlobal(void) { FreeAt(global); }
static void FreeOddGlobal(void) { FreeAt(global + 3); }
static void FreeCode(void) { FreeAt((char*)(uintptr_t)&FreeCode); }
static void FreeUnmapped(void) { FreeAt((char*)0x10); }
static void FreeNullPlus8(void) { FreeAt((char*)8); }
static void FreeNotCanonical(void) { FreeAt((char*)(uintptr_t)0xdeadbeefdeadbee0); }
static void FreeKernelAddress(void) { FreeAt((char*)(uintptr_t)0xffffffffff600000); }

static void FreeStack(void) {
  char local[64] __attribute__((aligned(16)));
  FreeAt(local);
}

static char* OwnMapping(void) {
  char* p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static void FreeOwnMapping(void) { FreeAt(OwnMapping()); }
static void FreeInOwnMapping(void) { FreeAt(OwnMapping() + 64); }

// What cannot be written shows that nothing is.
static void FreeReadOnlyMapping(void) {
  char* p = OwnMapping();
  CHECK(mprotect(p, 8192, PROT_NONE) == 0);
  FreeAt(p + 4096);
}

static void ReallocAt(char* p) {
  p = Note(p);
  void* q = realloc(p, 10000);
  HIDE(q);
}

static void ReallocGlobal(void) { ReallocAt(global); }
static void ReallocOwnMapping(void) { ReallocAt(OwnMapping()); }
static void ReallocNullPlus8(void) { ReallocAt((char*)8); }
static void ReallocInteriorOfLarge(void) { ReallocAt((char*)malloc(kLarge) + 8192); }

static void ReallocFreedLarge(void) {
  char* p = malloc(kLarge);
  free(p);
  ReallocAt(p);
}

static void ReallocToNothingOfGlobal(void) {
  char* p = global;
  p = Note(p);
  void* q = realloc(p, 0);
  HIDE(q);
}

static void UsableSizeAt(char* p) {
  p = Note(p);
  size_t bytes = malloc_usable_size(p);
  HIDE(bytes);
}

static void UsableSizeOfGlobal(void) { UsableSizeAt(global); }
static void UsableSizeOfNullPlus8(void) { UsableSizeAt((char*)8); }
static void UsableSizeInLarge(void) { UsableSizeAt((char*)malloc(kLarge) + 4096); }

static void SizedFreeOfLarge(void) {
  char* p = malloc(kLarge);
  p = Note(p);
  free_sized(p, 100);
}

static void SizedFreeOfLargeTooLong(void) {
  char* p = malloc(kLarge);
  p = Note(p);
  free_sized(p, kLarge + 10000);
}

static const char kInvalidFree[] = "free(): invalid pointer";
static const char kNoStart[] =
    "free(): the pointer is not the start of a block, or the block was freed before";
static const char kTwice[] = "free(): the block was freed twice";
static const char kRecordedTwice[] = "free(): double free of a block";
static const char kInside[] = "free(): the pointer is inside a block, not at its start";
static const char kNoStartRealloc[] =
    "realloc(): the pointer is not the start of a block, or the block was freed before";
static const char kInvalidRealloc[] = "realloc(): invalid pointer";
static const char kInvalidUsable[] = "malloc_usable_size(): invalid pointer";
static const char kNoStartUsable[] =
    "malloc_usable_size(): the pointer is not the start of a block, or the block was freed before";
static const char kOtherSize[] = "delete: the block has another size than the one that is given";

static const struct {
  const char* name;
  void (*commit)(void);
  const char* said;
  const char* said_recorded;  // null: the same
} kMisuses[] = {
    {"double_free", FreeTwice, kTwice, kRecordedTwice},
    {"double_free_with_one_between", FreeTwiceWithOneBetween, kTwice, kRecordedTwice},
    {"double_free_found_later", FreeTwiceFoundLater, kTwice, kRecordedTwice},
    {"double_free_of_large", FreeLargeTwice, kTwice, kNoStart},
    {"double_free_of_large_after_others", FreeLargeTwiceAfterOthers, kNoStart, NULL},
    {"double_free_of_large_in_threads", FreeLargeTwiceInThreads, kNoStart, NULL},
    {"double_free_of_large_elsewhere", FreeLargeHereAndElsewhere, kTwice, kNoStart},
    {"interior", FreeInterior, kInside, kNoStart},
    {"interior_of_large", FreeInteriorOfLarge, kNoStart, NULL},
    {"interior_page_of_large", FreeInteriorPageOfLarge, kNoStart, NULL},
    {"odd_address_in_large", FreeOddAddressInLarge, kNoStart, NULL},
    {"end_of_large", FreeEndOfLarge, kNoStart, NULL},
    {"global", FreeGlobal, kInvalidFree, NULL},
    {"odd_global", FreeOddGlobal, kInvalidFree, NULL},
    {"code", FreeCode, kInvalidFree, NULL},
    {"stack", FreeStack, kInvalidFree, NULL},
    {"unmapped", FreeUnmapped, kInvalidFree, NULL},
    {"null_plus_8", FreeNullPlus8, kInvalidFree, NULL},
    {"not_canonical", FreeNotCanonical, kInvalidFree, NULL},
    {"kernel_address", FreeKernelAddress, kInvalidFree, NULL},
    {"own_mapping", FreeOwnMapping, kInvalidFree, NULL},
    {"in_own_mapping", FreeInOwnMapping, kInvalidFree, NULL},
    {"protected_mapping", FreeReadOnlyMapping, kInvalidFree, NULL},
    {"realloc_global", ReallocGlobal, kInvalidRealloc, NULL},
    {"realloc_own_mapping", ReallocOwnMapping, kInvalidRealloc, NULL},
    {"realloc_null_plus_8", ReallocNullPlus8, kInvalidRealloc, NULL},
    {"realloc_interior_of_large", ReallocInteriorOfLarge, kNoStartRealloc, NULL},
    {"realloc_freed_large", ReallocFreedLarge, kNoStartRealloc, NULL},
    {"realloc_to_nothing_of_global", ReallocToNothingOfGlobal, kInvalidRealloc, NULL},
    {"usable_size_of_global", UsableSizeOfGlobal, kInvalidUsable, NULL},
    {"usable_size_of_null_plus_8", UsableSizeOfNullPlus8, kInvalidUsable, NULL},
    {"usable_size_in_large", UsableSizeInLarge, kNoStartUsable, NULL},
    {"sized_free_of_large", SizedFreeOfLarge, kOtherSize, NULL},
    {"sized_free_of_large_too_long", SizedFreeOfLargeTooLong, kOtherSize, NULL},
};
enum { kMisuseCount = sizeof(kMisuses) / sizeof(kMisuses[0]) };

// "mallow: SENTENCE (0xADDRESS)", and nothing else.
static int IsSentence(const char* said, const char* sentence) {
  const char head[] = "mallow: ";
  void* address;
  char end;
  const size_t length = strlen(sentence);
  if (strncmp(said, head, sizeof(head) - 1) != 0) return 0;
  said += sizeof(head) - 1;
  return strncmp(said, sentence, length) == 0 && sscanf(said + length, " (%p)%c", &address, &end) == 2 &&
         end == '\n' && strchr(said, '\n')[1] == 0 && address == *culprit;
}

// As those that write a report of the crash do.
static volatile sig_atomic_t* handlers;

static void AllocateWhileDying(int signal) {
  enum { kBlocks = 3000 };
  static unsigned char* blocks[kBlocks];
  static size_t bytes[kBlocks];
  (void)signal;
  if (++*handlers > 1) return;
  for (int i = 0; i < kBlocks; ++i) {
    bytes[i] = i % 3 != 0 ? 100 : i % 100 != 0 ? 16 + 7 * i % 4000 : kLarge;
    blocks[i] = malloc(bytes[i]);
    CHECK(blocks[i] != NULL);
    memset(blocks[i], i, bytes[i]);
  }
  for (int i = 0; i < kBlocks; ++i) {
    const unsigned char* block = blocks[i];
    for (size_t k = 0; k < bytes[i]; ++k) CHECK(block[k] == (unsigned char)i);
    free(blocks[i]);
  }
  *handlers += 100;
}

int main(int argc, char** argv) {
  CHECK(argc == 2 || (argc == 3 && strcmp(argv[2], "handled") == 0));
  int which = 0;
  while (which < kMisuseCount && strcmp(kMisuses[which].name, argv[1]) != 0) ++which;
  CHECK(which < kMisuseCount);
  culprit = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(culprit != MAP_FAILED);
  handlers = (sig_atomic_t*)(culprit + 1);
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    if (argc == 3) signal(SIGABRT, AllocateWhileDying);
    kMisuses[which].commit();
    // What only damages a small block may be found as late as here.
    exit(0);
  }
  close(ends[1]);
  char said[4096];
  ssize_t length = 0, more;
  while ((more = read(ends[0], said + length, sizeof(said) - 1 - length)) > 0) length += more;
  said[length] = 0;
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
    fprintf(stderr, "%s: not detected (status %#x): %s\n", argv[1], status, said);
    return 1;
  }
  if (argc == 3 && *handlers != 101) {
    fprintf(stderr, "%s: the handler did not end (%d): %s\n", argv[1], (int)*handlers, said);
    return 1;
  }
  if (!HasMallow()) return 0;
  const char* sentence = kMisuses[which].said;
  if (mallow_is_recording() && kMisuses[which].said_recorded != NULL)
    sentence = kMisuses[which].said_recorded;
  if (IsSentence(said, sentence)) return 0;
  fprintf(stderr, "%s: not \"mallow: %s (%p)\": %s", argv[1], sentence, (void*)*culprit, said);
  return 1;
}
