// operator new fails in a process without a C++ runtime: one sentence, and the end.
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "check.h"

__attribute__((weak)) void* _Znwm(size_t);
struct nothrow;
__attribute__((weak)) void* _ZnwmRKSt9nothrow_t(size_t, const struct nothrow*);

int main(void) {
  CHECK(_Znwm != NULL && _ZnwmRKSt9nothrow_t(SIZE_MAX, NULL) == NULL);
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    _Znwm(SIZE_MAX);
    _exit(0);
  }
  close(ends[1]);
  char said[512] = "";
  ssize_t length = 0, more;
  while ((more = read(ends[0], said + length, sizeof(said) - 1 - length)) > 0) length += more;
  said[length] = 0;
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strncmp(said, "mallow: operator new: no memory", 31) == 0);
  CHECK(strchr(said, '\n') == said + length - 1);
  return 0;
}
