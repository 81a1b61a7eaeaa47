// Limits its own address space, as a whole, to so many MiB, and then allocates 2,000 blocks and one that grows to 32 MiB;
// so does a fork child. Prints how many calls found no memory and ends with status 5.
//
//   limited MIB
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int problems;

__attribute__((noinline)) static void *allocate(size_t bytes) {
  void *block = malloc(bytes);
  if (block)
    memset(block, 1, bytes);
  else
    problems++;
  return block;
}

__attribute__((noinline)) static void *grow(void *block, size_t bytes) {
  void *grown = realloc(block, bytes);
  problems += !grown;
  return grown ? grown : block;
}

static void work(void) {
  static void *kept[2000];
  for (int i = 0; i < 2000; i++) kept[i] = allocate(1000 + (size_t)i * 8);
  for (int i = 0; i < 2000; i++) free(kept[i]);
  void *block = NULL;
  for (size_t bytes = 1 << 20; bytes <= 32 << 20; bytes *= 2) block = grow(block, bytes);
  free(block);
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  free(allocate(10));
  struct rlimit limit = {strtoul(arguments[1], NULL, 10) << 20, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 3;
  work();
  const pid_t child = fork();
  if (child == 0) {
    problems = 0;
    work();
    _exit(problems > 100 ? 100 : problems);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child) return 4;
  printf("%d problems, %d in the child\n", problems, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 5;
}
