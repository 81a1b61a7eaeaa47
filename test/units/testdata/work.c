/* Regions and units whose figures are known by construction; compiled as C and as C++, in every way of linking.
 * What the report must say of it stands in units_test.go. */
#include <mallow/mallow.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile sink;
static void keep(size_t bytes) { sink = malloc(bytes); }
static void pass(size_t bytes) {
  keep(bytes);
  free((void*)sink);
}

/* Of a request: 1 block of 32 bytes that is freed, and within "parse" 2 of 16 that stay. */
static void request(void) {
  mallow_region_begin("request");
  mallow_unit("request", 1);
  pass(32);
  mallow_region_begin("parse");
  keep(16);
  keep(16);
  mallow_region_end();
  mallow_unit("sent bytes", 3000);
  mallow_region_end();
}

static void* worker(void* ignored) {
  int i;
  for (i = 0; i < 5; i++) request();
  mallow_region_begin("left open");
  keep(8);
  return ignored;
}

/* 5 entries, 4 of them within the first: 5 blocks of 24 bytes. */
static void walk(int depth) {
  mallow_region_begin("walk");
  keep(24);
  if (depth > 1) walk(depth - 1);
  mallow_region_end();
}

/* 3 times out of two regions by longjmp: 3 blocks of 40 bytes within "jump", none of what follows. */
static jmp_buf back;
static void jump(void) {
  mallow_region_begin("inner");
  keep(40);
  longjmp(back, 1);
}
static void leave_by_jump(void) {
  volatile int times;
  for (times = 0; times < 3; times++) {
    volatile unsigned depth = mallow_region_begin("jump");
    if (setjmp(back) == 0) jump();
    mallow_region_return_to(depth);
    keep(48);
  }
}

static void handler(int signal) {
  (void)signal;
  mallow_region_begin("handler");
  mallow_unit("signals", 1);
  keep(56);
  mallow_region_end();
}

/* The child is inside "forked" as its parent is, and goes on inside: 2 blocks of 64 bytes in it, 1 in the parent. */
static void fork_inside(void) {
  pid_t child;
  mallow_region_begin("forked");
  child = fork();
  if (child == 0) {
    keep(64);
    mallow_region_begin("child");
    keep(64);
    mallow_region_end();
    mallow_region_end();
    keep(72); /* outside */
    mallow_unit("children", 1);
    _exit(0);
  }
  keep(64);
  mallow_region_end();
  waitpid(child, 0, 0);
}

int main(int count, char** arguments) {
  pthread_t threads[4];
  char name[8] = "first";
  int i;
  for (i = 0; i < 10; i++) keep(100); /* outside */
  for (i = 0; i < 7; i++) request();
  for (i = 0; i < 4; i++) pthread_create(&threads[i], 0, worker, 0);
  for (i = 0; i < 4; i++) pthread_join(threads[i], 0);
  walk(5);
  leave_by_jump();
  signal(SIGUSR1, handler);
  for (i = 0; i < 3; i++) raise(SIGUSR1);
  fork_inside();
  mallow_region_end(); /* of none */
  mallow_region_begin(name);
  strcpy(name, "second");
  keep(80);
  mallow_region_begin(name);
  keep(88); /* the program ends inside both */
  (void)arguments;
  if (count > 1) raise(SIGKILL);
  puts("done");
  return 0;
}
