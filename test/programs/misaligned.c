// Allocates where the stack pointer is off by a word, as hand-written code may do: kRounds times each of malloc, calloc,
// realloc, strdup and aligned_alloc, from some depths, and frees it all.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 3000 };

void *call_off(void *function, uintptr_t first, uintptr_t second);
__asm__(
    ".text\n.globl call_off\n.type call_off,@function\ncall_off:\n.cfi_startproc\n"
    "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
    "and $-16, %rsp\nsub $8, %rsp\nmov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\ncall *%rax\n"
    "leave\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n.size call_off, . - call_off\n");

static void *off(void *function, uintptr_t first, uintptr_t second, int depth) {
  char room[64];
  __asm__ volatile("" ::"r"(room) : "memory");
  return depth == 0 ? call_off(function, first, second) : off(function, first, second, depth - 1);
}

__attribute__((noinline)) static void work(int i) {
  const int depth = i % 7;
  void *block = off((void *)malloc, (uintptr_t)(i % 900), 0, depth);
  memset(block, 1, (size_t)(i % 900));
  block = off((void *)realloc, (uintptr_t)block, (uintptr_t)(i * 7 % 5000 + 1), depth);
  void *zeros = off((void *)calloc, (uintptr_t)(i % 90), 8, depth);
  void *text = off((void *)strdup, (uintptr_t) "some text", 0, depth);
  void *aligned = off((void *)aligned_alloc, 64, 640, depth);
  off((void *)free, (uintptr_t)block, 0, depth);
  off((void *)free, (uintptr_t)zeros, 0, depth);
  off((void *)free, (uintptr_t)text, 0, depth);
  off((void *)free, (uintptr_t)aligned, 0, depth);
  off((void *)free, 0, 0, depth);
}

int main(void) {
  for (int i = 0; i < kRounds; i++) work(i);
  return 0;
}
