// No descriptor of the allocator's is ever seen by the program: the first open gives the number that it gives without
// us, and a program that closes everything goes on.
#include <fcntl.h>
#include <sys/wait.h>

#include "check.h"

static void Churn(void) {
  void* blocks[1000];
  for (int i = 0; i < 1000; ++i) blocks[i] = malloc(i * 70);
  for (int i = 0; i < 1000; ++i) free(blocks[i]);
}

int main(void) {
  // Below what the test runner may have left open.
  closefrom(3);
  Churn();
  int descriptor = open("/dev/null", O_RDONLY);
  CHECK(descriptor == 3);
  Churn();
  CHECK(dup(descriptor) == 4);
  closefrom(3);
  Churn();
  const pid_t child = fork();
  if (child == 0) {
    Churn();
    CHECK(open("/dev/null", O_RDONLY) == 3);
    closefrom(0);
    Churn();
    _exit(open("/dev/null", O_RDONLY) == 0 ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
