// Prints what a program can see of its process: nothing of it may differ when it is recorded.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_first_descriptor(void) {
  int first = open("/dev/null", O_RDONLY);
  printf("first descriptor %d\n", first);
  close(first);
}

// The descriptors are tried one by one: reading /proc/self/fd would need one more.
static void print_open_descriptors(void) {
  printf("open:");
  for (int descriptor = 0; descriptor < 1024; descriptor++)
    if (fcntl(descriptor, F_GETFD) >= 0) printf(" %d", descriptor);
  printf("\n");
}

static void print_errno(void) {
  int changed = 0;
  void *blocks[300];
  for (int i = 0; i < 300; i++) {
    errno = E2BIG;
    blocks[i] = i % 3 == 0   ? malloc((size_t)i * 100)
                : i % 3 == 1 ? calloc(3, (size_t)i)
                             : realloc(NULL, (size_t)i);
    changed += errno != E2BIG;
  }
  for (int i = 0; i < 300; i++) {
    errno = E2BIG;
    free(blocks[i]);
    changed += errno != E2BIG;
  }
  errno = 0;
  volatile size_t too_large = PTRDIFF_MAX;
  void *none = malloc(too_large);
  printf("errno changed %d times, %s, after a failure %d\n", changed, none ? "block" : "none", errno);
}

static void print_signals(void) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("blocked:");
  for (int signal_number = 1; signal_number < 65; signal_number++)
    if (sigismember(&mask, signal_number) == 1) printf(" %d", signal_number);
  printf("\nhandled:");
  for (int signal_number = 1; signal_number < 65; signal_number++) {
    struct sigaction action;
    if (sigaction(signal_number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
      printf(" %d%s", signal_number, action.sa_handler == SIG_IGN ? " ignored" : "");
  }
  stack_t stack;
  sigaltstack(NULL, &stack);
  printf("\nalternate stack %s\n", stack.ss_flags & SS_DISABLE ? "none" : "set");
}

static void print_limits(void) {
  for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) == 0)
      printf("limit %d %llu %llu\n", resource, (unsigned long long)limit.rlim_cur,
             (unsigned long long)limit.rlim_max);
  }
}

static void print_threads(void) {
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "Threads:", 8) || !strncmp(line, "SigBlk", 6) || !strncmp(line, "SigIgn", 6) ||
        !strncmp(line, "SigCgt", 6) || !strncmp(line, "Uid:", 4))
      fputs(line, stdout);
  if (status) fclose(status);
}

int main(int count, char **arguments) {
  print_first_descriptor();
  print_open_descriptors();
  print_errno();
  print_signals();
  print_limits();
  print_threads();
  mode_t mask = umask(0);
  umask(mask);
  char *folder = getcwd(NULL, 0);
  printf("umask %03o in %s, %d arguments, last %s\n", mask, folder, count, arguments[count - 1]);
  free(folder);
  print_first_descriptor();
  return 11;
}
