/* Asks for the statistics of its thread while another thread ends the recording and begins the next one: statistician FOLDER
 *
 * That happens at three instructions among those that add up what was counted of 3,000 stacks. The answer is all of it or, as
 * where nothing is recorded, nothing; each further session has its one block. */
#define _GNU_SOURCE
#include <mallow/mallow.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <ucontext.h>

#include "wait_briefly.h"

__typeof__(mallow_record_start) mallow_record_start __attribute__((weak));
__typeof__(mallow_record_stop) mallow_record_stop __attribute__((weak));
__typeof__(mallow_thread_statistics) mallow_thread_statistics __attribute__((weak));

enum { kTrapFlag = 0x100, kBytes = 100, kStacks = 3000, kFirst = 8000, kStep = 8000, kTimes = 3 };

static const char* folder;
static sem_t go, done;
static int session;
static volatile int left;
static void* volatile kept;

static void __attribute__((noinline)) before(int depth) {
  kept = malloc(kBytes);
  if (depth > 0) before(depth - 1);
  kept = NULL;
}
static void __attribute__((noinline)) counted(void) { kept = malloc(kBytes); }

static void Begin(void) {
  static char path[4096];
  sprintf(path, "%s/%d.mallow", folder, session++);
  if (mkdir(path, 0700) != 0 || mallow_record_start(path) != 0) abort();
}

static void* Switch(void* argument) {
  for (int i = 0; i < kTimes; ++i) {
    sem_wait(&go);
    if (mallow_record_stop() != 0) abort();
    Begin();
    counted();
    sem_post(&done);
  }
  return argument;
}

static void OnTrap(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  if (--left != 0) return;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  sem_post(&go);
  wait_briefly(&done, 2000);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  const struct sigaction action = {.sa_sigaction = OnTrap, .sa_flags = SA_SIGINFO};
  pthread_t thread;
  if (sigaction(SIGTRAP, &action, NULL) != 0 || pthread_create(&thread, NULL, Switch, NULL) != 0) return 2;
  Begin();
  for (int i = 0; i < kTimes; ++i) {
    struct mallow_thread_statistics statistics;
    before(kStacks - 1);
    left = kFirst + i * kStep;
    __asm__ volatile(
        "leaq -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n leaq 128(%%rsp), %%rsp" ::
            : "memory", "cc");
    const size_t known = mallow_thread_statistics(&statistics, sizeof(statistics));
    if (left > 0) return 3;
    if (known != 0 && statistics.allocations != kStacks) return 4;
  }
  pthread_join(thread, NULL);
  return mallow_record_stop();
}
