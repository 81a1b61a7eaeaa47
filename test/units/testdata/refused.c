/* Functions whose calls cannot be counted, each for a reason of its own. */
#include <stdio.h>
#include <stdlib.h>

static void* volatile sink;
__attribute__((noinline)) int tiny(void) { return 0; }
static inline __attribute__((always_inline)) void inlined(int i) { sink = malloc(i); }
__attribute__((noinline)) int partly(int i) {
  sink = malloc(i);
  return i;
}
__asm__(".text\n.globl loop\n.type loop, @function\nloop: .cfi_startproc\n dec %rdi\n test %rdi, %rdi\n jnz loop\n ret\n .cfi_endproc\n .size loop, . - loop\n"
        ".globl sizeless\n.type sizeless, @function\nsizeless: nop\n nop\n nop\n nop\n nop\n ret\n"
        ".globl calls\n.type calls, @function\ncalls: .cfi_startproc\n call *8(%rsp)\n ret\n .cfi_endproc\n .size calls, . - calls\n");
static int one(void) { return 1; }
static int (*choose(void))(void) { return one; }
int chosen(void) __attribute__((ifunc("choose")));

int main(void) {
  int i;
  for (i = 1; i < 4; i++) inlined(i);
  puts("done");
  return tiny() + chosen() - 1 + partly(0);
}
