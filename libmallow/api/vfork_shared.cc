// In libmallow.so: vfork, which is counted, and then is libc's. Its child shares our memory, and would be taken for its
// parent: what was counted tells the recorder when to ask.
//
// A jump, so that the child has nothing to return from but libc's function, which is made for that.
#include "os/thread.h"

asm(R"(
  .pushsection .text.vfork, "ax", @progbits
  .globl vfork
  .type vfork, @function
vfork:
  .cfi_startproc
  endbr64
  lock incl mallow_vforks(%rip)
  jmp *__vfork@GOTPCREL(%rip)
  .cfi_endproc
  .size vfork, . - vfork
  .popsection
)");
