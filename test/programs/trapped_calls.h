// For a thread that is stopped, by SIGSYS, where it calls the system. Once in a program.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

// Calls the system; of a call from here nothing is trapped.
long untrapped(long a, long b, long c, long d, long e, long f, long number);
extern char untrapped_return[];
__asm__(
    ".globl untrapped, untrapped_return\n"
    "untrapped:\n"
    "  movq %rcx, %r10\n"
    "  movq 8(%rsp), %rax\n"
    "  syscall\n"
    "untrapped_return:\n"
    "  ret\n");

// At the end of a handler: makes the call that was trapped.
static inline void let_through(greg_t* r) {
  r[REG_RAX] = untrapped(r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9], r[REG_RAX]);
}

enum { kMostTrapped = 8 };

// From here on the calling thread, and those that it starts, come to the handler at these calls. False: they do not.
static inline int trap_calls(const int* calls, int count, void (*handler)(int, siginfo_t*, void*)) {
  struct sock_filter filter[kMostTrapped + 5];
  int n = 0;
  if (count > kMostTrapped) return 0;
  const uint32_t from = (uint32_t)(uintptr_t)untrapped_return;
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, instruction_pointer));
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, from, (uint8_t)(count + 1), 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < count; ++i)
    filter[n++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], (uint8_t)(count - i), 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const struct sock_fprog program = {(unsigned short)n, filter};
  const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
