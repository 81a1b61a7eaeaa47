// Coroutines whose stacks come and go: unmapped as soon as one has ended, or cut to a part of what they were, and others,
// longer and shorter, at the same addresses; and what lies beside them. What is remembered of a stack must never be read
// where it is gone.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "capture_here.h"
#include "node_map.h"

using Callback = void (*)();

// Calls back with rbp = bad, in a frame whose CFA is rbp + 16.
asm(".text\n.type CallWithBp,@function\nCallWithBp:\n.cfi_startproc\n"
    "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
    "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
    "push %rbx\n.cfi_offset %rbx, -24\nsub $8, %rsp\n"
    "mov %rbp, %rbx\nmov %rdi, %rbp\n"
    "call *%rsi\n"
    "mov %rbx, %rbp\nadd $8, %rsp\npop %rbx\n.cfi_restore %rbx\n"
    "pop %rbp\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\nret\n.cfi_endproc\n.size CallWithBp, . - "
    "CallWithBp\n");
extern "C" void CallWithBp(uintptr_t bad, Callback callback);

namespace {

using namespace mallow::unwind_test;

constexpr size_t kPage = 4096, kPages = 64;
constexpr int kPlaces = 3, kRounds = 1000;
char* g_region;
int g_failures = 0;

uint64_t g_random = 88172645463325252u;
size_t Random(size_t below) {
  g_random ^= g_random << 13;
  g_random ^= g_random >> 7;
  g_random ^= g_random << 17;
  return g_random % below;
}

ucontext_t g_main, g_coroutine;

__attribute__((noinline)) void Descend(size_t depth) {
  char room[1100];
  asm volatile("" ::"r"(room) : "memory");
  if (depth % 4 == 0) CaptureHere();
  if (depth > 0) Descend(depth - 1);
  if (depth % 7 == 0) CaptureHere();
  asm volatile("" ::"r"(room) : "memory");
}

size_t g_depth;
void Body() {
  Descend(g_depth);
  swapcontext(&g_coroutine, &g_main);
}

// At `place`, of so many pages at its low or high end; the rest of the place is not there.
void RunAt(char* place, size_t first, size_t pages) {
  char* stack = place + first * kPage;
  mmap(stack, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  getcontext(&g_coroutine);
  g_coroutine.uc_stack.ss_sp = stack;
  g_coroutine.uc_stack.ss_size = pages * kPage;
  g_coroutine.uc_link = nullptr;
  makecontext(&g_coroutine, Body, 0);
  // The oracle needs some pages itself, for what it keeps while it walks.
  g_depth = Random((pages - 12) * kPage / 256 / 5);
  swapcontext(&g_main, &g_coroutine);
  if (Random(2) == 0) {
    munmap(stack, pages * kPage);
  } else {
    mmap(stack, pages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
}

// A frame pointer that still leads to the part of this very stack that has been taken away.
uintptr_t g_gone;
void CaptureDamaged() {
  uint64_t outermost = 0;
  for (mallow::record::NodeId node = CaptureUnchecked(); node != 0; node = NodeAt(node).parent) {
    outermost = NodeAt(node).frame;
  }
  if (outermost >> 56 == mallow::record::kTagTruncated) return;
  fprintf(stderr, "unmapped stacks: %lx is taken for the outermost frame\n", outermost);
  ++g_failures;
}

void CutBody() {
  CallWithBp(g_gone, CaptureDamaged);
  CallWithBp(g_gone, CaptureDamaged);
  swapcontext(&g_coroutine, &g_main);
}

void CutStack() {
  char* stack = g_region;
  RunAt(stack, 0, kPages);  // its pages are known as one stack now
  mmap(stack, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  munmap(stack + kPages / 2 * kPage, kPages / 2 * kPage);
  g_gone = reinterpret_cast<uintptr_t>(stack) + (kPages - 2) * kPage;
  getcontext(&g_coroutine);
  g_coroutine.uc_stack.ss_sp = stack;
  g_coroutine.uc_stack.ss_size = kPages / 2 * kPage;
  makecontext(&g_coroutine, CutBody, 0);
  swapcontext(&g_main, &g_coroutine);
}

// A frame pointer that leads beyond the end of this stack, to memory that lies there for a while.
char* g_neighbour;
void NeighbourBody() {
  for (int i = 0; i < 3; ++i) CallWithBp(g_gone, [] { CaptureUnchecked(); });
  munmap(g_neighbour, kPage);
  for (int i = 0; i < 3; ++i) CallWithBp(g_gone, CaptureDamaged);
  swapcontext(&g_coroutine, &g_main);
}

void LoseNeighbour() {
  constexpr size_t kOwnPages = 32;
  char* stack = g_region;
  mmap(stack, (kOwnPages + 1) * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
       0);
  g_neighbour = stack + kOwnPages * kPage;
  g_gone = reinterpret_cast<uintptr_t>(g_neighbour) + 64;
  getcontext(&g_coroutine);
  g_coroutine.uc_stack.ss_sp = stack;
  g_coroutine.uc_stack.ss_size = kOwnPages * kPage;
  makecontext(&g_coroutine, NeighbourBody, 0);
  swapcontext(&g_main, &g_coroutine);
}

}  // namespace

int main() {
  // Where nobody else's memory comes to, so that what is unmapped stays so.
  void* const far_away = reinterpret_cast<void*>(uintptr_t{1} << 44);
  g_region = static_cast<char*>(mmap(far_away, kPlaces * kPages * kPage, PROT_NONE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  if (g_region == MAP_FAILED) return 2;
  for (int round = 0; round < kRounds; ++round) {
    const size_t pages = 16 + Random(kPages - 16);
    RunAt(g_region + Random(kPlaces) * kPages * kPage, Random(2) == 0 ? 0 : kPages - pages, pages);
    if (Random(4) == 0) CaptureHere();
  }
  for (int i = 0; i < 3; ++i) CutStack();
  for (int i = 0; i < 3; ++i) LoseNeighbour();
  return Report("unmapped stacks") | (g_failures != 0);
}
