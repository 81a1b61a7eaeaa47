// Stacks whose frame pointer leads nowhere: the program must not fault, the frames inside are known, and the path says
// that it is not whole.
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "capture_here.h"
#include "node_map.h"

using Callback = void (*)();

// Calls back with rbp = bad, in a frame whose CFA is rbp + 16.
asm(".text\n.type WithBp,@function\nWithBp:\n.cfi_startproc\n"
    "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
    "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
    "push %rbx\n.cfi_offset %rbx, -24\nsub $8, %rsp\n"
    "mov %rbp, %rbx\nmov %rdi, %rbp\n"
    "call *%rsi\n"
    "mov %rbx, %rbp\nadd $8, %rsp\npop %rbx\n.cfi_restore %rbx\n"
    "pop %rbp\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\nret\n.cfi_endproc\n.size WithBp, . - WithBp\n");
extern "C" void WithBp(uintptr_t bad, Callback callback);

namespace {

using namespace mallow::unwind_test;
using mallow::record::kTagTruncated;
using mallow::record::Truncation;

int g_failures = 0;
uint64_t g_frames;
uint64_t g_outermost;

void Capture() {
  g_frames = 0;
  for (mallow::record::NodeId node = CaptureUnchecked(); node != 0; node = NodeAt(node).parent) {
    g_outermost = NodeAt(node).frame;
    ++g_frames;
  }
}

void Expect(const char* name, uintptr_t bad) {
  constexpr uint64_t kDamaged = kTagTruncated << 56 | static_cast<uint64_t>(Truncation::kDamagedStack);
  for (int again = 0; again < 3; ++again) {
    WithBp(bad, Capture);
    // The capture's caller, WithBp, and the mark.
    if (g_outermost == kDamaged && g_frames == 3) continue;
    fprintf(stderr, "damaged: %s (%lx): %lu frames, outermost %lx\n", name, bad, g_frames, g_outermost);
    ++g_failures;
  }
}

// Always at the same place of the stack.
__attribute__((noinline)) void Visit(uintptr_t frame) {
  WithBp(frame, Capture);
  asm volatile("");
}

}  // namespace

int main() {
  constexpr size_t kPage = 4096;
  char* pages = static_cast<char*>(
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + kPage, kPage);
  mprotect(pages + 2 * kPage, kPage, PROT_NONE);
  uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));

  Expect("null", 0);
  Expect("small", 24);
  Expect("whose return address is at 0", ~uintptr_t{7});
  Expect("unaligned", here + 3);
  Expect("not canonical", uintptr_t{0x1234} << 48);
  Expect("kernel", ~uintptr_t{0} - 4095);
  Expect("unmapped", reinterpret_cast<uintptr_t>(pages + kPage));
  Expect("no access", reinterpret_cast<uintptr_t>(pages + 2 * kPage));
  Expect("last word of a page", reinterpret_cast<uintptr_t>(pages + kPage - 8));
  Expect("below the frame", here - 2048);

  // The stack that a frame was found on is gone: what is remembered of it must not be read.
  for (int i = 0; i < 2; ++i) {
    char* stack = static_cast<char*>(
        mmap(nullptr, 16 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const uintptr_t frame = reinterpret_cast<uintptr_t>(stack + 8 * kPage);
    *reinterpret_cast<uintptr_t*>(frame + 8) = reinterpret_cast<uintptr_t>(&Expect) + 1;
    for (int visit = 0; visit < 2; ++visit) {
      Visit(frame);
      if (visit == 0) munmap(stack, 16 * kPage);
    }
    Expect("stack that is gone", frame);
  }
  // The program's own stack is whole again.
  CaptureHere();
  return Report("damaged") | (g_failures != 0);
}
