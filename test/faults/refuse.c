#include "refuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMostProcesses = 512 };

// A process or thread under trace.
struct Tracee {
  pid_t pid;
  // The library's code in it; 0 while unknown.
  unsigned long begin, end;
};

static struct Tracee tracees[kMostProcesses];
static volatile sig_atomic_t out_of_patience;

static void Fail(const char* what) {
  fprintf(stderr, "refuse: %s: %s\n", what, strerror(errno));
  exit(2);
}

static struct Tracee* Find(pid_t pid) {
  for (int i = 0; i < kMostProcesses; ++i) {
    if (tracees[i].pid == pid) return &tracees[i];
  }
  return NULL;
}

// Name of the mapping around `address`, and where it lies; false when there is none.
static int FindMapping(pid_t pid, unsigned long address, unsigned long* begin, unsigned long* end, char* name,
                       size_t size) {
  char path[64], line[4096];
  snprintf(path, sizeof(path), "/proc/%d/maps", pid);
  FILE* maps = fopen(path, "r");
  if (maps == NULL) return 0;
  int found = 0;
  while (!found && fgets(line, sizeof(line), maps) != NULL) {
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%lx-%lx", begin, end) != 2 || address < *begin || address >= *end) continue;
    const char* file = strchr(line, '/');
    snprintf(name, size, "%s", file == NULL ? "no file" : file);
    found = 1;
  }
  fclose(maps);
  return found;
}

static int IsOfLibrary(struct Tracee* tracee, unsigned long address, const char* library) {
  if (tracee->end != 0) return address >= tracee->begin && address < tracee->end;
  unsigned long begin, end;
  char name[4096];
  if (!FindMapping(tracee->pid, address, &begin, &end, name, sizeof(name)) || strcmp(name, library) != 0)
    return 0;
  tracee->begin = begin;
  tracee->end = end;
  return 1;
}

// Only the calls that are counted stop; the rest runs at full speed.
static void FilterMemoryCalls(void) {
  const int calls[] = {SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mprotect};
  enum { kCalls = sizeof(calls) / sizeof(calls[0]) };
  struct sock_filter filter[kCalls + 3];
  filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < kCalls; ++i)
    filter[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], kCalls - i, 0);
  filter[1 + kCalls] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[2 + kCalls] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  const struct sock_fprog program = {kCalls + 3, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) Fail("prctl");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) Fail("seccomp");
}

static void Redirect(int descriptor, const char* path, int flags) {
  const int opened = open(path, flags, 0600);
  if (opened < 0 || dup2(opened, descriptor) < 0) Fail(path);
  close(opened);
}

static void BecomeProgram(const struct Order* order) {
  Redirect(0, order->input, O_RDONLY);
  Redirect(1, order->output, O_WRONLY | O_CREAT | O_TRUNC);
  Redirect(2, order->errors, O_WRONLY | O_CREAT | O_TRUNC);
  setpgid(0, 0);
  setenv("LD_PRELOAD", order->library, 1);
  setenv("MALLOW_OPTIONS", order->options, 1);
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) Fail("ptrace");
  raise(SIGSTOP);
  FilterMemoryCalls();
  execvp(order->command[0], order->command);
  Fail(order->command[0]);
}

// A call for memory: counted when it is the library's, and refused when its turn has come.
static void OnMemoryCall(const struct Order* order, struct Result* result, struct Tracee* tracee) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, tracee->pid, 0, &registers) != 0) return;
  if (!IsOfLibrary(tracee, registers.rip, order->library)) return;
  const int number = ++result->calls;
  if (order->refuse_at == 0 || number < order->refuse_at || number >= order->refuse_at + order->refusals)
    return;
  ++result->refused;
  // A call without a number is not made, and returns what is there already.
  registers.orig_rax = -1;
  registers.rax = -ENOMEM;
  ptrace(PTRACE_SETREGS, tracee->pid, 0, &registers);
}

static int IsFatal(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT;
}

static void NotePlace(struct Result* result, const struct Tracee* tracee, int signal) {
  struct user_regs_struct registers;
  unsigned long begin, end;
  char name[4096] = "nowhere";
  if (ptrace(PTRACE_GETREGS, tracee->pid, 0, &registers) == 0)
    FindMapping(tracee->pid, registers.rip, &begin, &end, name, sizeof(name));
  const char* file = strrchr(name, '/');
  result->fault_signal = signal;
  snprintf(result->fault_at, sizeof(result->fault_at), "%.60s", file == NULL ? name : file + 1);
}

// What a stopped process is told to go on with: a signal, or 0.
static int OnStop(const struct Order* order, struct Result* result, pid_t pid, int status) {
  struct Tracee* tracee = Find(pid);
  const int is_new = tracee == NULL;
  if (is_new) {
    tracee = Find(0);
    if (tracee == NULL) Fail("too many processes");
    *tracee = (struct Tracee){pid, 0, 0};
  }
  const int signal = WSTOPSIG(status), event = status >> 16;
  if (event == PTRACE_EVENT_SECCOMP) OnMemoryCall(order, result, tracee);
  if (event == PTRACE_EVENT_EXEC) tracee->begin = tracee->end = 0;
  if (event != 0 || (is_new && signal == SIGSTOP)) return 0;
  if (IsFatal(signal) || (out_of_patience && signal == SIGSTOP)) NotePlace(result, tracee, signal);
  return out_of_patience ? SIGKILL : signal;
}

// Those that run stop first, and say where; see OnStop.
static void KillAll(void) {
  for (int i = 0; i < kMostProcesses; ++i) {
    if (tracees[i].pid != 0) kill(tracees[i].pid, SIGSTOP);
  }
}

static void LosePatience(int signal) {
  (void)signal;
  out_of_patience = 1;
}

struct Result Run(const struct Order* order) {
  struct Result result = {0};
  memset(tracees, 0, sizeof(tracees));
  out_of_patience = 0;
  const pid_t first = fork();
  if (first < 0) Fail("fork");
  if (first == 0) BecomeProgram(order);
  int status;
  if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status)) Fail("the program did not stop");
  tracees[0].pid = first;
  const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, first, 0, options) != 0) Fail("ptrace");
  ptrace(PTRACE_CONT, first, 0, 0);

  const struct sigaction action = {.sa_handler = LosePatience};
  sigaction(SIGALRM, &action, NULL);
  alarm(order->seconds);
  for (;;) {
    const pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == ECHILD) break;
    if (out_of_patience && !result.hung) {
      result.hung = 1;
      KillAll();
    }
    if (pid < 0) continue;
    if (WIFSTOPPED(status)) {
      ptrace(PTRACE_CONT, pid, 0, OnStop(order, &result, pid, status));
      continue;
    }
    if (pid == first) result.status = status;
    struct Tracee* tracee = Find(pid);
    if (tracee != NULL) tracee->pid = 0;
  }
  alarm(0);
  return result;
}
