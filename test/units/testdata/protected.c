/* Executes a program that may not make code of what it has written. */
#include <sys/prctl.h>
#include <unistd.h>

enum { kSetMemoryDenyWriteExecute = 65, kRefuseExecGain = 1 };

int main(int count, char** arguments) {
  if (count < 2 || prctl(kSetMemoryDenyWriteExecute, kRefuseExecGain, 0, 0, 0) != 0) return 1;
  execv(arguments[1], arguments + 1);
  return 1;
}
