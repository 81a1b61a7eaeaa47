// Frames that compilers do not make: hand-written unwind rows of every kind, code without unwind tables, signal
// trampolines of the program's own, and instructions interrupted where the row before them is another one.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "capture_here.h"
#include "node_map.h"

using mallow::unwind_test::CaptureHere;
using Callback = void (*)();

#define MALLOW_FUNCTION(name, body)                                                                   \
  asm(".text\n.type " name ",@function\n" name ":\n.cfi_startproc\n" body ".cfi_endproc\n.size " name \
      ", . - " name "\n")

// CFA from a register that a walk by rules does not follow.
MALLOW_FUNCTION("CfaFromRbx",
                "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbx, -16\n"
                "mov %rsp, %rbx\n.cfi_def_cfa_register %rbx\n"
                "and $-64, %rsp\nsub $192, %rsp\n"
                "call *%rdi\n"
                "mov %rbx, %rsp\n.cfi_def_cfa_register %rsp\n"
                "pop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbx\nret\n");

// The frame above saves r12 for the frame below, whose CFA comes from it.
MALLOW_FUNCTION("SavesR12",
                "push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r12, -16\n"
                "mov $0x1234, %r12d\n"
                "call *%rdi\n"
                "pop %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r12\nret\n");
MALLOW_FUNCTION("CfaFromR12",
                "push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r12, -16\n"
                "mov %rsp, %r12\n.cfi_def_cfa_register %r12\n"
                "sub $512, %rsp\nand $-32, %rsp\n"
                "mov %rsi, %rdi\ncall *%rsi\n"
                "mov %r12, %rsp\n.cfi_def_cfa_register %rsp\n"
                "pop %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r12\nret\n");

// CFA = the word at rsp + 8, by an expression: breg7 8; deref.
MALLOW_FUNCTION("CfaFromWord",
                "lea 8(%rsp), %rax\n"
                "sub $24, %rsp\n.cfi_adjust_cfa_offset 24\n"
                "mov %rax, 8(%rsp)\n"
                ".cfi_escape 0x0f, 0x03, 0x77, 0x08, 0x06\n"
                "call *%rdi\n"
                ".cfi_def_cfa %rsp, 32\n"
                "add $24, %rsp\n.cfi_adjust_cfa_offset -24\nret\n");

// CFA = rsp + 24 + (1 ? 8 : 0) by arithmetic and a branch: breg7 24; lit1; bra +1; nop; lit8; plus.
MALLOW_FUNCTION("CfaByBranch",
                "sub $24, %rsp\n.cfi_adjust_cfa_offset 24\n"
                ".cfi_escape 0x0f, 0x09, 0x77, 0x18, 0x31, 0x28, 0x01, 0x00, 0x96, 0x38, 0x22\n"
                "call *%rdi\n"
                ".cfi_def_cfa %rsp, 32\n"
                "add $24, %rsp\n.cfi_adjust_cfa_offset -24\nret\n");

// rbp in another register, by DW_CFA_register. (libunwind 1.6 recovers it wrongly from a register with a smaller
// number than its own.)
MALLOW_FUNCTION("BpInR13",
                "push %r13\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r13, -16\n"
                "mov %rbp, %r13\n.cfi_register %rbp, %r13\n"
                "xor %ebp, %ebp\n"
                "call *%rdi\n"
                "mov %r13, %rbp\n.cfi_restore %rbp\n"
                "pop %r13\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r13\nret\n");

// rbp saved at the value of an expression, and restored as the value of one.
MALLOW_FUNCTION("BpAtExpression",
                "sub $40, %rsp\n.cfi_adjust_cfa_offset 40\n"
                "mov %rbp, 16(%rsp)\nxor %ebp, %ebp\n"
                ".cfi_escape 0x10, 0x06, 0x02, 0x77, 0x10\n"
                "call *%rdi\n"
                "mov 16(%rsp), %rbp\n.cfi_restore %rbp\n"
                "add $40, %rsp\n.cfi_adjust_cfa_offset -40\nret\n");
MALLOW_FUNCTION("BpIsExpression",
                "sub $40, %rsp\n.cfi_adjust_cfa_offset 40\n"
                "mov %rbp, 16(%rsp)\nxor %ebp, %ebp\n"
                ".cfi_escape 0x16, 0x06, 0x03, 0x77, 0x10, 0x06\n"
                "call *%rdi\n"
                "mov 16(%rsp), %rbp\n.cfi_restore %rbp\n"
                "add $40, %rsp\n.cfi_adjust_cfa_offset -40\nret\n");

// Remembered and restored rows, with a saved register in between.
MALLOW_FUNCTION("RemembersRow",
                "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
                "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
                "push %rdi\npush %rdi\n"
                "test %rdi, %rdi\njnz 1f\n"
                ".cfi_remember_state\n"
                "leave\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\nret\n"
                "1:\n.cfi_restore_state\n"
                "call *%rdi\n"
                "leave\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\nret\n");

// No unwind table at all.
asm(".text\n.type WithoutTable,@function\nWithoutTable:\nsub $8, %rsp\ncall *%rdi\nadd $8, %rsp\nret\n"
    ".size WithoutTable, . - WithoutTable\n");

// A signal trampoline of the program's own, without a table.
asm(".text\n.balign 16\nnop\n.type OwnRestorer,@function\nOwnRestorer:\nmov $15, %rax\nsyscall\n"
    ".size OwnRestorer, . - OwnRestorer\n");

// Ends with a large frame in its last row; the next function starts with an illegal instruction.
MALLOW_FUNCTION("LargeFrameAtEnd", "sub $4096, %rsp\n.cfi_adjust_cfa_offset 4096\nud2\n");
MALLOW_FUNCTION("IllegalAtStart", "ud2\nret\n");

extern "C" {
void CfaFromRbx(Callback);
void SavesR12(Callback);
void CfaFromR12(Callback, Callback);
void CfaFromWord(Callback);
void CfaByBranch(Callback);
void BpInR13(Callback);
void BpAtExpression(Callback);
void BpIsExpression(Callback);
void RemembersRow(Callback);
void WithoutTable(Callback);
void OwnRestorer();
void IllegalAtStart();
}

namespace {

using namespace mallow::unwind_test;

int g_failures = 0;

// `variable` makes the frame's CFA come from rbp.
__attribute__((noinline)) void CallFromBp(void (*function)(Callback), Callback callback, size_t variable) {
  char room[variable];
  asm volatile("" ::"r"(room));
  function(callback);
  asm volatile("" ::"r"(room));
}

void ExpectTruncated(const char* name, uint64_t before, uint64_t expected) {
  if (GetTotals().truncated - before == expected) return;
  fprintf(stderr, "%s: %lu truncated stacks, expected %lu\n", name, GetTotals().truncated - before, expected);
  ++g_failures;
}

void CaptureTwice() {
  CaptureHere();
  CaptureHere();
}

void ThroughR12(Callback callback) {
  CfaFromR12([] {}, callback);
}

struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

// libunwind does not walk through a trampoline without a table, so the path itself is looked at.
void OnSignal(int) {
  for (int i = 0; i < 2; ++i) {
    int interrupted = 0;
    uint64_t outermost = 0;
    for (mallow::record::NodeId node = CaptureUnchecked(); node != 0; node = NodeAt(node).parent) {
      outermost = NodeAt(node).frame;
      interrupted += outermost >> 56 == mallow::record::kTagSignalFrame;
    }
    if (interrupted == 1 && outermost >> 56 == mallow::record::kTagReturnAddress) continue;
    fprintf(stderr, "trampoline without a table: %d interrupted frames, outermost %lx\n", interrupted,
            outermost);
    ++g_failures;
  }
}

void UseOwnRestorer() {
  constexpr unsigned long kRestorer = 0x04000000;
  const KernelAction action{OnSignal, kRestorer, OwnRestorer, 0};
  syscall(SYS_rt_sigaction, SIGUSR1, &action, nullptr, sizeof action.mask);
  raise(SIGUSR1);
}

void OnIllegal(int, siginfo_t*, void* context) {
  CaptureTwice();
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;
}

void InterruptFirstInstruction() {
  struct sigaction action {};
  action.sa_sigaction = OnIllegal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
  for (int i = 0; i < 3; ++i) IllegalAtStart();
}

// Machine code in anonymous memory, as a JIT compiler makes it: push rbx; mov rdi, rbx; call rbx; pop rbx; ret.
void (*MakeCode())(Callback) {
  constexpr unsigned char kCode[] = {0x53, 0x48, 0x89, 0xfb, 0xff, 0xd3, 0x5b, 0xc3};
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, kCode, sizeof kCode);
  return reinterpret_cast<void (*)(Callback)>(page);
}

}  // namespace

int main() {
  void (*const functions[])(Callback) = {CfaFromRbx, SavesR12,       ThroughR12,     CfaFromWord, CfaByBranch,
                                         BpInR13,    BpAtExpression, BpIsExpression, RemembersRow};
  for (int round = 0; round < 3; ++round) {
    for (auto function : functions) {
      for (size_t variable = 16; variable < 64; variable += 16) CallFromBp(function, CaptureTwice, variable);
    }
  }
  uint64_t before = GetTotals().truncated;
  UseOwnRestorer();
  InterruptFirstInstruction();
  ExpectTruncated("whole tables", 0, 0);

  before = GetTotals().truncated;
  for (int round = 0; round < 3; ++round) CallFromBp(WithoutTable, CaptureTwice, 16);
  ExpectTruncated("function without a table", before, 6);

  before = GetTotals().truncated;
  const auto code = MakeCode();
  for (int round = 0; round < 3; ++round) CallFromBp(code, CaptureTwice, 16);
  ExpectTruncated("code outside all objects", before, 6);
  return mallow::unwind_test::Report("special frames") | (g_failures != 0);
}
