// Allows itself, by a filter that kills, only the system calls that it makes itself and those that it is told, and then
// allocates. Ends with status 5.
//
//   confined WHAT CALLS...
//
// WHAT: first (nothing was allocated before), a path of plugin_a.so (which was loaded before, and allocates first then),
// child (a fork child allocates too), nobody (a fork child becomes another user, confines itself, allocates, and ends by
// exit).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL(name) \
  { #name, SYS_##name }

static const struct {
  const char *name;
  unsigned number;
} calls[] = {
    CALL(mmap),           CALL(munmap),       CALL(mremap),      CALL(mprotect),      CALL(madvise),
    CALL(mincore),        CALL(futex),        CALL(sched_yield), CALL(nanosleep),     CALL(clock_gettime),
    CALL(rt_sigprocmask), CALL(getpid),       CALL(gettid),      CALL(unlinkat),      CALL(openat),
    CALL(close),          CALL(read),         CALL(write),       CALL(lseek),         CALL(ftruncate),
    CALL(statx),          CALL(newfstatat),   CALL(readlinkat),  CALL(getcwd),        CALL(prlimit64),
    CALL(getppid),        CALL(timer_create), CALL(tgkill),      CALL(timer_settime), CALL(timer_delete),
    CALL(rt_sigaction),   CALL(rt_sigreturn), CALL(munlock),     CALL(geteuid),       CALL(clock_getres),
};

// What becomes of threads and processes is their own.
static const unsigned own[] = {
    SYS_clone,        SYS_clone3, SYS_set_robust_list, SYS_rseq, SYS_exit,   SYS_exit_group, SYS_wait4,
    SYS_rt_sigaction, SYS_futex,  SYS_rt_sigprocmask,  SYS_mmap, SYS_munmap, SYS_mprotect,   SYS_madvise,
};

enum { kMost = 64 };
static struct sock_filter filter[2 * kMost + 2];
static unsigned short length;

static void allow(unsigned call) {
  if (length > 2 * kMost - 2) abort();
  filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

static unsigned number_of(const char *name) {
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
    if (strcmp(calls[i].name, name) == 0) return calls[i].number;
  _exit(2);
}

static void confine(char **names) {
  filter[length++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) allow(own[i]);
  for (; *names; names++) allow(number_of(*names));
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  struct sock_fprog program = {length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(3);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(3);
}

__attribute__((noinline)) static void allocate(void) {
  for (size_t i = 0; i < 1000; i++) {
    char *block = malloc(1 + i * 7 % 3000);
    if (!block) _exit(4);
    memset(block, 1, 1 + i * 7 % 3000);
    free(block);
  }
  char *block = NULL;
  for (size_t i = 1; i < 20; i++) {
    block = realloc(block, i << 18);
    if (!block) _exit(4);
  }
  free(block);
}

static void *in_thread(void *nothing) {
  allocate();
  return nothing;
}

// Until its CPU time has come to some samples.
static void burn(void) {
  volatile unsigned long sum = 0;
  for (unsigned long i = 0; i < 200000000; i++) sum += i;
  (void)sum;
}

static int as_nobody(char **names) {
  allocate();
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    allocate();
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    confine(names);
    allocate();
    exit(0);
  }
  if (waitpid(child, &status, 0) != child) return 6;
  return WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 3 : status == 0 ? 5 : 6;
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  const char *what = arguments[1];
  if (strcmp(what, "nobody") == 0) return as_nobody(arguments + 2);
  void (*plugin)(int) = NULL;
  if (strchr(what, '/')) *(void **)&plugin = dlsym(dlopen(what, RTLD_NOW), "plugin_a");
  confine(arguments + 2);
  if (plugin) plugin(10);
  allocate();
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    if (pthread_create(&threads[i], NULL, in_thread, NULL) != 0) _exit(4);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  burn();
  if (strcmp(what, "child") == 0) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
      allocate();
      _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0) _exit(6);
  }
  allocate();
  _exit(5);
}
