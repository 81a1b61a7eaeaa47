// Functions that are called so many times as their names say; what is counted is held against that in per_test.go.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define NOINLINE __attribute__((noinline, noclone))

static void* volatile sink;
static volatile int limit = 1 << 30, sum;
extern "C" void in_library(int times, void (*again)(int));

// Its first instructions compare with a word of memory and jump.
extern "C" NOINLINE int early_exit(int i) {
  if (i > limit) return 1;
  sink = malloc(8);
  return 0;
}
extern "C" NOINLINE int word_of_memory(int i) { return sum += limit + i; }
extern "C" NOINLINE int recursive(int depth) { return depth == 0 ? 0 : 1 + recursive(depth - 1) * (limit > 0 ? 1 : 2); }
extern "C" NOINLINE int many(int a, int b, int c, int d, int e, int f, double g, ...) {
  return static_cast<int>(a + b + c + d + e + f + g) + sum;
}
extern "C" NOINLINE void called_back(int i) { sum += i; }
extern "C" NOINLINE void throws(int i) {
  sink = malloc(4);
  if (i % 2 == 0) throw i;
}
static jmp_buf back;
extern "C" NOINLINE void jumps(int i) {
  sum += i;
  longjmp(back, 1);
}
extern "C" NOINLINE void handler(int) { sum++; }
extern "C" NOINLINE void in_thread(int i) {
  if (i % 100 == 0) sink = malloc(16);
  sum += i;
}
extern "C" NOINLINE void in_child(int i) { sum += i; }

namespace server {
struct Request {
  NOINLINE int serve(int i) { return sum += i; }
  NOINLINE int serve(double i) { return sum += static_cast<int>(i); }
};
template <typename T>
NOINLINE T twice(T t) {
  return t + t + sum;
}
}  // namespace server

// The forms in which functions begin, none of which a compiler makes on demand.
asm(R"(
  .text
  .globl short_jump, short_jump_end
  .type short_jump, @function
short_jump:            # test, jz over what follows
  .cfi_startproc
  test %edi, %edi
  jz 1f
  lea 1(%rdi), %eax
  ret
1: mov $7, %eax
  ret
  .cfi_endproc
  .size short_jump, . - short_jump
  .globl backward
  .type backward, @function
2: mov $9, %eax
  ret
backward:              # jz to what stands before
  .cfi_startproc
  test %edi, %edi
  jz 2b
  lea 2(%rdi), %eax
  ret
  .cfi_endproc
  .size backward, . - backward
  .globl keeps_all
  .type keeps_all, @function
keeps_all:             # as functions are that agree on more than the ABI does: flags, rax, r10 and r11 come from the caller
  .cfi_startproc
  adc %r10, %rax
  lea (%rax, %r11), %rax
  ret
  .cfi_endproc
  .size keeps_all, . - keeps_all
  .globl call_first, call_by_word, call_by_register
  .type call_first, @function
  .type call_by_word, @function
  .type call_by_register, @function
call_first:            # these begin with a call, from which one may also come back by an exception
  .cfi_startproc
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call called_first
  inc %eax
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size call_first, . - call_first
call_by_word:
  .cfi_startproc
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_offset %rbx, -16
  call *word_of_called_first(%rip)
  pop %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  ret
  .cfi_endproc
  .size call_by_word, . - call_by_word
call_by_register:
  .cfi_startproc
  push %r12
  .cfi_adjust_cfa_offset 8
  .cfi_offset %r12, -16
  mov %rsi, %rax
  call *%rax
  pop %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r12
  ret
  .cfi_endproc
  .size call_by_register, . - call_by_register
  .data
  .balign 8
  .type word_of_called_first, @object
word_of_called_first: .quad called_first
  .size word_of_called_first, 8
  .text
  .globl marked
  .type marked, @function
marked:
  .cfi_startproc
  endbr64
  lea 3(%rdi), %eax
  nop
  nop
  ret
  .cfi_endproc
  .size marked, . - marked
)");
extern "C" int short_jump(int), backward(int), marked(int);
extern "C" int call_first(int), call_by_word(int), call_by_register(int, int (*)(int));
extern "C" NOINLINE int called_first(int i) {
  sink = malloc(2);
  if (i % 5 == 4) throw i;
  return i * 3;
}

template <typename Call>
static int Caught(Call call) {
  try {
    return call();
  } catch (int i) {
    return -i;
  }
}

static long call_keeps_all() {
  long result;
  asm volatile("mov $5, %%r10\n\tmov $7, %%r11\n\tmov $100, %%rax\n\tstc\n\tcall keeps_all"
               : "=a"(result)
               :
               : "r10", "r11", "memory", "cc");
  return result;
}

static void* thread(void*) {
  for (int i = 0; i < 10000; ++i) in_thread(i);
  return nullptr;
}

static int Check() {
  int wrong = 0;
  for (int i = 0; i < 10; ++i) wrong += short_jump(i) != (i == 0 ? 7 : i + 1);
  for (int i = 0; i < 10; ++i) wrong += backward(i) != (i == 0 ? 9 : i + 2);
  for (int i = 0; i < 10; ++i) wrong += call_keeps_all() != 113;
  for (int i = 0; i < 10; ++i) {
    const int result = i % 5 == 4 ? -i : i * 3;
    wrong += Caught([i] { return call_first(i); }) != (i % 5 == 4 ? -i : i * 3 + 1);
    wrong += Caught([i] { return call_by_word(i); }) != result;
    wrong += Caught([i] { return call_by_register(i, called_first); }) != result;
  }
  int (*volatile through)(int) = marked;
  for (int i = 0; i < 10; ++i) wrong += through(i) != i + 3;
  return wrong;
}

int main(int count, char** arguments) {
  if (Check() != 0) return puts("wrong"), 1;
  for (int i = 0; i < 100; ++i) early_exit(i);
  int (*volatile pointer)(int) = early_exit;
  for (int i = 0; i < 50; ++i) pointer(i);
  for (int i = 0; i < 25; ++i) word_of_memory(i);
  recursive(9);
  for (int i = 0; i < 5; ++i) many(1, 2, 3, 4, 5, 6, 7.0, 8.0);
  in_library(30, called_back);
  for (int i = 0; i < 20; ++i) {
    try {
      throws(i);
    } catch (int caught) {
      sum += caught;
    }
  }
  for (volatile int i = 0; i < 7; ++i) {
    if (setjmp(back) == 0) jumps(i);
  }
  signal(SIGUSR1, handler);
  for (int i = 0; i < 6; ++i) raise(SIGUSR1);
  pthread_t threads[4];
  for (pthread_t& t : threads) pthread_create(&t, nullptr, thread, nullptr);
  for (pthread_t& t : threads) pthread_join(t, nullptr);
  server::Request request;
  for (int i = 0; i < 11; ++i) request.serve(i);
  for (int i = 0; i < 12; ++i) request.serve(i + 0.5);
  for (int i = 0; i < 13; ++i) sum += server::twice(i);
  for (int i = 0; i < 14; ++i) sum += static_cast<int>(server::twice(i + 0.5));
  if (const pid_t child = fork(); child == 0) {
    for (int i = 0; i < 3; ++i) in_child(i);  // before it allocates
    sink = malloc(32);
    for (int i = 0; i < 5; ++i) in_child(i);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  in_child(0);
  if (count > 1 && strcmp(arguments[1], "kill") == 0) raise(SIGKILL);
  puts("done");
  return 0;
}
