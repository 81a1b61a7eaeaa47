// Allocates where stacks are unusual: on coroutines whose stacks are unmapped when they end, in handlers on a stack of
// their own, while the dynamic linker binds a function; and on ever new stacks, down a tree. Recorded, with every capture
// compared.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

extern "C" {
extern void (*lazy_callback)();
int Lazy0();
int Lazy1();
int Lazy2();
}

namespace {

constexpr size_t kPage = 4096, kMostPages = 32;
void* volatile g_sink;
ucontext_t g_main, g_coroutine;
size_t g_depth;

void Allocate() {
  g_sink = malloc(24);
  free(g_sink);
  g_sink = malloc(40);
  free(g_sink);
}

__attribute__((noinline)) void Descend(size_t depth) {
  char room[200];
  asm volatile("" ::"r"(room) : "memory");
  if (depth % 3 == 0) Allocate();
  if (depth > 0) Descend(depth - 1);
  asm volatile("" ::"r"(room) : "memory");
}

__attribute__((noinline)) void Visit(size_t depth);

// Has its frame by rbp.
__attribute__((noinline)) void VisitBelowRoom(size_t depth) {
  auto* const room = static_cast<char*>(__builtin_alloca(16 * (depth % 3 + 1)));
  asm volatile("" ::"r"(room) : "memory");
  Visit(depth);
  asm volatile("" ::"r"(room) : "memory");
}

void Visit(size_t depth) {
  Allocate();
  if (depth > 0) {
    Visit(depth - 1);
    VisitBelowRoom(depth - 1);
    Visit(depth - 1);
  }
  asm volatile("" ::: "memory");
}

void Body() {
  Descend(g_depth);
  raise(SIGUSR1);
  swapcontext(&g_coroutine, &g_main);
}

void OnSignal(int) { Descend(5); }

void RunCoroutine(char* place, size_t pages, size_t depth) {
  mmap(place, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  getcontext(&g_coroutine);
  g_coroutine.uc_stack.ss_sp = place;
  g_coroutine.uc_stack.ss_size = pages * kPage;
  g_depth = depth;
  makecontext(&g_coroutine, Body, 0);
  swapcontext(&g_main, &g_coroutine);
  mmap(place, pages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

}  // namespace

int main() {
  stack_t stack{};
  stack.ss_size = 64 * kPage;
  stack.ss_sp = malloc(stack.ss_size);
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  lazy_callback = Allocate;
  if (Lazy0() + Lazy1() + Lazy2() != 3) return 1;
  auto* place = static_cast<char*>(
      mmap(nullptr, 2 * kMostPages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (size_t round = 0; round < 300; ++round) {
    // The oracle needs most of the stack.
    RunCoroutine(place + round % 2 * kMostPages * kPage, 20 + round * 7 % 12, round % 23);
    if (round % 3 == 0) Descend(round % 11);
  }
  Visit(7);
  return 0;
}
