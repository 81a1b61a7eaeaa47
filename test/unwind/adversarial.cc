// Every way in which compiled code may treat its stack, mixed at random, in several threads; every capture compared.
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "capture_here.h"

namespace {

using mallow::unwind_test::CaptureHere;

thread_local uint64_t t_random = 88172645463325252u;

uint64_t Random(uint64_t below) {
  t_random ^= t_random << 13;
  t_random ^= t_random >> 7;
  t_random ^= t_random << 17;
  return t_random % below;
}

#define MALLOW_FRAME __attribute__((noinline, noclone))

void Wander(int depth);

inline void Keep(void* p) { asm volatile("" ::"r"(p) : "memory"); }

MALLOW_FRAME void Plain(int depth) {
  Wander(depth - 1);
  asm volatile("");
}

MALLOW_FRAME void Wide(int depth) {
  char room[700];
  Keep(room);
  Wander(depth - 1);
  Keep(room);
}

// rbp is an ordinary register here, and is saved.
MALLOW_FRAME void UsesBpFreely(int depth) {
  asm volatile("" ::: "rbp", "rbx", "r12", "r13");
  Wander(depth - 1);
  asm volatile("" ::: "rbp", "rbx", "r12", "r13");
}

MALLOW_FRAME void Alloca(int depth) {
  void* room = alloca(16 + Random(20) * 16);
  Keep(room);
  Wander(depth - 1);
  Keep(room);
}

MALLOW_FRAME void VariableLengthArray(int depth) {
  const size_t length = 1 + Random(200);
  int room[length];
  Keep(room);
  Wander(depth - 1);
  Keep(room);
}

MALLOW_FRAME void Realigned(int depth) {
  alignas(64) char room[128];
  Keep(room);
  Wander(depth - 1);
  Keep(room);
}

// Realigned and of variable size: the CFA comes from a word of the frame.
MALLOW_FRAME void RealignedVariable(int depth, int, int, int, int, int, int on_stack, int too) {
  alignas(64) char room[64];
  const size_t length = 1 + Random(100) + (on_stack & too & 1);
  char more[length];
  Keep(room);
  Keep(more);
  Wander(depth - 1);
  Keep(more);
}
MALLOW_FRAME void CallRealignedVariable(int depth) {
  RealignedVariable(depth, 1, 2, 3, 4, 5, 6, 7);
  asm volatile("");
}

MALLOW_FRAME void MaybeThrow(int depth) {
  Wander(depth - 1);
  if (Random(2) == 0) throw depth;
  CaptureHere();
}
MALLOW_FRAME void Catches(int depth) {
  try {
    MaybeThrow(depth);
  } catch (int) {
    CaptureHere();
    Wander(depth / 2);
  }
  CaptureHere();
}

MALLOW_FRAME void JumpsOut(jmp_buf back, int depth) {
  Wander(depth - 1);
  if (Random(2) == 0) longjmp(back, 1);
  CaptureHere();
}
MALLOW_FRAME void JumpTarget(int depth) {
  jmp_buf back;
  if (setjmp(back) == 0) {
    JumpsOut(back, depth);
  } else {
    CaptureHere();
  }
  Wander(depth / 2);
}

int Compare(const void* a, const void* b) {
  if (Random(4) == 0) CaptureHere();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
MALLOW_FRAME void Sorts(int depth) {
  int items[8];
  for (int& item : items) item = static_cast<int>(Random(100));
  qsort(items, 8, sizeof items[0], Compare);
  Wander(depth - 1);
}

MALLOW_FRAME void Recurses(int depth) {
  if (depth > 1 && Random(3) != 0) return Recurses(depth - 1), CaptureHere();
  Wander(depth - 1);
}

MALLOW_FRAME void RaisesOnOwnStack(int depth) {
  if (Random(8) == 0) raise(SIGUSR1);
  Wander(depth - 1);
}
MALLOW_FRAME void RaisesOnSignalStack(int depth) {
  if (Random(8) == 0) raise(SIGUSR2);
  Wander(depth - 1);
}

// --- Coroutines, each on a stack of its own ---

constexpr int kCoroutines = 8;
constexpr size_t kCoroutineStack = 256 * 1024;
struct Coroutine {
  ucontext_t context;
  bool active;
};
thread_local Coroutine t_coroutines[kCoroutines];
thread_local ucontext_t t_resumer;
thread_local int t_current = -1;
thread_local bool t_in_handler = false;

void Yield() {
  const int current = t_current;
  t_current = -1;
  swapcontext(&t_coroutines[current].context, &t_resumer);
}

MALLOW_FRAME void CoroutineBody() {
  for (;;) {
    CaptureHere();
    Wander(1 + static_cast<int>(Random(12)));
    Yield();
  }
}

MALLOW_FRAME void Switches(int depth) {
  // Leaving a handler by a switch would let the next signal overwrite its stack.
  if (t_in_handler) return Wander(depth - 1);
  if (t_current >= 0) {
    if (Random(4) == 0) {
      Yield();  // comes back in the middle of this stack
      CaptureHere();
    }
    return Wander(depth - 1);
  }
  const int next = static_cast<int>(Random(kCoroutines));
  Coroutine& coroutine = t_coroutines[next];
  if (!coroutine.active) {
    getcontext(&coroutine.context);
    coroutine.context.uc_stack.ss_sp = malloc(kCoroutineStack);
    coroutine.context.uc_stack.ss_size = kCoroutineStack;
    coroutine.context.uc_link = nullptr;
    makecontext(&coroutine.context, CoroutineBody, 0);
    coroutine.active = true;
  }
  t_current = next;
  swapcontext(&t_resumer, &coroutine.context);
  CaptureHere();
}

void OnSignal(int) {
  const bool nested = t_in_handler;
  t_in_handler = true;
  CaptureHere();
  Wander(static_cast<int>(Random(5)));
  t_in_handler = nested;
}

void (*const kFrames[])(int) = {Plain,      Plain,    Wide,     UsesBpFreely,        Alloca,
                                Realigned,  Sorts,    Catches,  VariableLengthArray, CallRealignedVariable,
                                JumpTarget, Recurses, Switches, RaisesOnOwnStack,    RaisesOnSignalStack};

MALLOW_FRAME void Wander(int depth) {
  if (Random(3) == 0) CaptureHere();
  if (depth <= 0) return;
  kFrames[Random(sizeof kFrames / sizeof kFrames[0])](depth);
  if (Random(4) == 0) CaptureHere();
}

void UseSignalStack() {
  stack_t stack{};
  stack.ss_size = 1 << 20;
  stack.ss_sp = malloc(stack.ss_size);
  sigaltstack(&stack, nullptr);
}

int g_rounds;

void* Run(void* seed) {
  t_random = 88172645463325252u * (reinterpret_cast<uintptr_t>(seed) + 1) | 1;
  UseSignalStack();
  for (int round = 0; round < g_rounds; ++round) Wander(4 + static_cast<int>(Random(16)));
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  g_rounds = argc > 1 ? atoi(argv[1]) : 400;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);

  constexpr int kThreads = 3;
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i)
    pthread_create(&threads[i], nullptr, Run, reinterpret_cast<void*>(i + 1));
  Run(nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return mallow::unwind_test::Report("adversarial");
}
