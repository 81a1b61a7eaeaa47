// Executes one hit of each entry point of malloc, instruction by instruction, and prints where each instruction lay.
//
//   single_step     with LD_PRELOAD=libmallow.so
//
// One line per hit: the entry's symbol, its sizes, then the addresses in the order of execution, relative to the
// library that holds the entry; "-" for each instruction outside it. The processor traps after each instruction
// while its trap flag is set; the handler notes the next instruction's address.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { kTrapFlag = 0x100, kMostSteps = 1 << 17, kPrimed = 8, kMostSmall = 256 << 10 };

// Calls function(a, b) with the trap flag set; the handler clears it at TracedReturn.
uintptr_t TracedCall(void* function, uintptr_t a, uintptr_t b);
extern char TracedReturn[];
__asm__(
    ".text\n"
    ".globl TracedCall, TracedReturn\n"
    "TracedCall:\n"
    "  subq $8, %rsp\n"
    "  movq %rdi, %rax\n"
    "  movq %rsi, %rdi\n"
    "  movq %rdx, %rsi\n"
    "  pushfq\n"
    "  orq $0x100, (%rsp)\n"
    "  popfq\n"
    "  call *%rax\n"
    "TracedReturn:\n"
    "  addq $8, %rsp\n"
    "  ret\n");

static uintptr_t steps[kMostSteps];
static volatile size_t count;

static void Note(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const uintptr_t next = (uintptr_t)registers[REG_RIP];
  if (next == (uintptr_t)TracedReturn || count == kMostSteps) {
    registers[REG_EFL] &= ~kTrapFlag;
  } else {
    steps[count++] = next;
  }
}

static void Die(const char* what, const char* name) {
  fprintf(stderr, "single_step: %s %s\n", what, name);
  exit(1);
}

static void Print(void* entry, const char* name, const char* arguments) {
  Dl_info library, info;
  if (dladdr(entry, &library) == 0) Die("no library holds", name);
  printf("%s %s", name, arguments);
  for (size_t i = 0; i < count; ++i) {
    if (dladdr((void*)steps[i], &info) != 0 && info.dli_fbase == library.dli_fbase) {
      printf(" %zx", (size_t)(steps[i] - (uintptr_t)library.dli_fbase));
    } else {
      printf(" -");
    }
  }
  printf("\n");
}

// Brings the cache of that size to where neither an allocation nor a free leaves the hit path: some objects, some room.
static void Prime(size_t bytes) {
  void* blocks[kPrimed];
  const int count = bytes > kMostSmall ? 1 : kPrimed;
  for (int i = 0; i < count; ++i) {
    blocks[i] = malloc(bytes);
    if (blocks[i] == NULL) Die("no memory for", "malloc");
  }
  for (int i = 0; i < count; ++i) free(blocks[i]);
  free(malloc(bytes));
}

static void Hit(const char* name, const char* arguments, uintptr_t a, uintptr_t b) {
  void* entry = dlsym(RTLD_DEFAULT, name);
  if (entry == NULL) Die("there is no", name);
  count = 0;
  TracedCall(entry, a, b);
  if (count == kMostSteps) Die("no hit: too many instructions in", name);
  Print(entry, name, arguments);
}

static void HitAllocate(const char* name, size_t bytes) {
  char arguments[32];
  snprintf(arguments, sizeof(arguments), "%zu", bytes);
  Prime(bytes);
  Hit(name, arguments, bytes, 0);
}

static void HitFree(const char* name, size_t bytes) {
  char arguments[32];
  snprintf(arguments, sizeof(arguments), "%zu", bytes);
  Prime(bytes);
  Hit(name, arguments, (uintptr_t)malloc(bytes), bytes);
}

int main(void) {
  static char buffer[1 << 16];
  setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
  struct sigaction action = {.sa_sigaction = Note, .sa_flags = SA_SIGINFO};
  if (sigaction(SIGTRAP, &action, NULL) != 0) Die("no handler for", "SIGTRAP");
  // Up to 1 KiB the table of classes is finer than above.
  HitAllocate("malloc", 64);
  HitAllocate("malloc", 4096);
  HitFree("free", 64);
  HitFree("free", 4096);
  Prime(64);
  Hit("calloc", "1,64", 1, 64);
  HitAllocate("_Znwm", 64);
  HitFree("_ZdlPv", 64);
  HitFree("_ZdlPvm", 64);
  HitFree("_ZdlPvm", 4096);
  HitFree("free_sized", 64);
  // Shorter, but not by half: the block stays.
  Prime(64);
  Hit("realloc", "64,48", (uintptr_t)malloc(64), 48);
  // A large block, which its thread keeps for its next malloc of that length.
  HitAllocate("malloc", 1 << 20);
  HitFree("free", 1 << 20);
  return 0;
}
