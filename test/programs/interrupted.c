// Signal handlers that allocate: 200 on the stack, 200 on a stack of their own, raised where no allocation is
// under way.
#include <signal.h>
#include <stdlib.h>

static void *volatile last;

__attribute__((noinline)) static void in_handler(int signal_number) {
  (void)signal_number;
  last = malloc(56);
  free(last);
}

__attribute__((noinline)) static void interrupted(int signal_number) {
  for (int i = 0; i < 200; i++) raise(signal_number);
}

int main(void) {
  static char own_stack[64 * 1024];
  stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof own_stack};
  if (sigaltstack(&stack, NULL) != 0) return 1;
  struct sigaction action = {.sa_handler = in_handler};
  sigaction(SIGUSR1, &action, NULL);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, NULL);
  interrupted(SIGUSR1);
  interrupted(SIGUSR2);
  return 0;
}
