// Signal handlers that capture in the middle of everything, also in the middle of a capture.
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "capture_here.h"

namespace {

using namespace mallow::unwind_test;

volatile sig_atomic_t g_capturing;
volatile uint64_t g_handled, g_nested;

void OnAlarm(int) {
  g_handled = g_handled + 1;
  g_nested = g_nested + g_capturing;
  CaptureHere();
}

__attribute__((noinline)) void Work(int depth, int shape) {
  if (depth == 0) {
    g_capturing = 1;
    CaptureUnchecked();
    g_capturing = 0;
    return;
  }
  if (shape & 1) asm volatile("" ::"r"(alloca(static_cast<size_t>(shape) * 16)));
  Work(depth - 1, shape * 5 / 3);
  if (depth % 3 == 0) Work(depth / 2, shape + 1);
  asm volatile("");
}

}  // namespace

int main() {
  struct sigaction action {};
  action.sa_handler = OnAlarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval interval{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &interval, nullptr);
  constexpr uint64_t kEnough = 3000, kEnoughNested = 50;
  for (int round = 0; g_handled < kEnough || g_nested < kEnoughNested; ++round) Work(12, 1 + round % 16);
  const itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
  printf("handled %lu, within a capture %lu\n", g_handled, g_nested);
  return Report("interrupted capture");
}
