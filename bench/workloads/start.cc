// Starts itself COUNT times, one after the other; each of these processes allocates and frees one block, and ends. What
// a process pays for its allocator before it has done anything: the peak resident size is that of one of them.
//
//	start COUNT
#include <spawn.h>
#include <sys/wait.h>

#include "support.h"

namespace {

void Run(const char* program, char** environment) {
  char name[] = "start", none[] = "nothing";
  char* const arguments[] = {name, none, nullptr};
  pid_t child;
  if (posix_spawn(&child, program, nullptr, nullptr, arguments, environment) != 0)
    bench::Fail("cannot start itself");
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) bench::Fail("a process that it started failed");
}

}  // namespace

int main(int count, char** values, char** environment) {
  if (count == 2 && strcmp(values[1], "nothing") == 0) {
    free(bench::Allocate(100));
    return 0;
  }
  const bench::Arguments arguments(count, values, 1, "COUNT");
  for (uint64_t i = arguments.Number(1); i > 0; i--) Run("/proc/self/exe", environment);
}
