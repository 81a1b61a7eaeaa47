// Sleeps in every way that a signal interrupts, on a small signal stack, and works between. Prints how often a call was cut
// short, and how often a reader was.
//
// A timer of CPU time is looked at when the clock ticks, and on a busy machine that may be always in the turn of another
// who runs longer: now and then it works long enough for a tick to find it.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "burn.h"

static int cut, read_cut;

static void note(int result) {
  if (result < 0 && errno == EINTR) cut++;
}

static void *read_all(void *descriptor) {
  free(malloc(1));
  char byte;
  ssize_t got;
  while ((got = read(*(int *)descriptor, &byte, 1)) != 0) {
    if (got < 0) read_cut++;
  }
  return NULL;
}

int main(void) {
  const size_t bytes = getauxval(AT_MINSIGSTKSZ) + 4096;
  stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
  sigaltstack(&stack, NULL);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  pthread_t reader;
  pthread_create(&reader, NULL, read_all, &ends[0]);
  const int group = epoll_create1(0);
  struct epoll_event event;
  const struct timespec moment = {0, 50000};
  for (int i = 0; i < 600; i++) {
    burn(i % 20 == 0 ? 20 : 1);
    note(nanosleep(&moment, NULL));
    note(poll(NULL, 0, 1));
    note(ppoll(NULL, 0, &moment, NULL));
    struct timeval short_time = {0, 50};
    note(select(0, NULL, NULL, NULL, &short_time));
    note(epoll_wait(group, &event, 1, 1));
    if (write(ends[1], "x", 1) != 1) return 1;
  }
  close(ends[1]);
  pthread_join(reader, NULL);
  printf("%d cut short, %d reads\n", cut, read_cut);
  return 0;
}
