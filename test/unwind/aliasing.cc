// Two different stacks that agree in pc, in sp and in every return address of the recorded read set, and differ only in
// the live rbp.
//
//   site -> f(alloca n + D) -> leaf -> capture        path A: site calls f directly
//   site -> g -> f(alloca n) -> leaf -> capture       path B: the same call, through g
//
// D is what g adds to the stack; it is swept. The alloca area is never written, so what B left there (f's return into g, g's
// frame) lies intact inside f's area in A.
#include <alloca.h>
#include <stdio.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "capture_here.h"

namespace {

using mallow::record::Registers;
using mallow::unwind_test::CaptureHere;

#define MALLOW_FRAME __attribute__((noinline, noclone, noipa))

// Leaves rbp alone: what matters is rbp at the frame that joins.
MALLOW_FRAME void LeafKeepsBp() {
  CaptureHere();
  asm volatile("");
}

// Saves rbp and uses it for itself: what matters is the word that it is saved in.
MALLOW_FRAME void LeafSavesBp() {
  asm volatile("xor %%ebp, %%ebp" ::: "rbp");
  CaptureHere();
  asm volatile("" ::: "rbp");
}

// On path B another capture below f comes before: it makes f a frame that the last stack and the next capture share.
volatile bool g_capture_before;
volatile bool g_through_g;

MALLOW_FRAME void Before() {
  if (g_capture_before && g_through_g) CaptureHere();
  asm volatile("");
}

void (*volatile g_call[])() = {Before, LeafKeepsBp};
volatile int g_calls = 2;

MALLOW_FRAME void F(size_t bytes) {
  void* room = alloca(bytes);
  asm volatile("" ::"r"(room));
  for (int call = 0; call < g_calls; ++call) g_call[call]();  // from one place: f is the same frame in both
  asm volatile("" ::"r"(room));
}

MALLOW_FRAME void G(size_t bytes) {
  char room[200];
  asm volatile("" ::"r"(room));
  g_through_g = true;
  F(bytes);
  g_through_g = false;
  asm volatile("" ::"r"(room));
}

// --- Vacuity: visits in which everything but rbp agreed while the paths differed ---

struct Seen {
  uintptr_t pc, sp;
};
constexpr int kMaxFrames = 64;
Seen g_last[kMaxFrames];
int g_last_frames;
uint64_t g_aliased;

__attribute__((noinline)) void Observe(const Registers& start) {
  Seen now[kMaxFrames];
  int frames = 0;
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  unw_init_local(&cursor, &context);
  bool inside = false;
  do {
    unw_word_t pc, sp;
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    unw_get_reg(&cursor, UNW_REG_SP, &sp);
    inside = inside || (pc == start.pc && sp == start.sp);
    if (inside) now[frames++] = {pc, sp};
  } while (frames < kMaxFrames && unw_step(&cursor) > 0);

  bool agrees = g_last_frames != 0 && now[0].pc == g_last[0].pc && now[0].sp == g_last[0].sp;
  for (int i = 1; agrees && i < g_last_frames; ++i) {
    agrees = *reinterpret_cast<uintptr_t*>(g_last[i].sp - 8) == g_last[i].pc;
  }
  bool differs = frames != g_last_frames;
  for (int i = 0; !differs && i < frames; ++i) differs = now[i].pc != g_last[i].pc;
  if (agrees && differs) ++g_aliased;
  for (int i = 0; i < frames; ++i) g_last[i] = now[i];
  g_last_frames = frames;
}

// Calls B, A, B, A through one call instruction, with nothing in between that would touch the stack below.
MALLOW_FRAME void Site(size_t bytes, size_t more) {
  void (*volatile functions[2])(size_t) = {G, F};
  const size_t sizes[2] = {bytes, bytes + more};
  for (int visit = 0; visit < 4; ++visit) functions[visit & 1](sizes[visit & 1]);
}

}  // namespace

int main() {
  mallow::unwind_test::SetObserver(Observe);
  void (*const leaves[])() = {LeafKeepsBp, LeafSavesBp};
  for (int variant = 0; variant < 4; ++variant) {
    const uint64_t aliased_before = g_aliased;
    g_call[1] = leaves[variant & 1];
    g_capture_before = variant & 2;
    for (size_t bytes = 64; bytes <= 512; bytes += 64) {
      for (size_t more = 0; more <= 768; more += 16) Site(bytes, more);
    }
    printf("visits that differ in rbp alone: %lu\n", g_aliased - aliased_before);
    if (g_aliased == aliased_before) {
      fprintf(stderr, "aliasing: vacuous, the two paths never agreed\n");
      return 1;
    }
  }
  return mallow::unwind_test::Report("aliasing");
}
