/* Writes snapshots in a fork child and in a child of that one: snapped_child PLUGIN FOLDER
 *
 * PLUGIN is plugin_a.so. The recorded parent makes 10 blocks in both(), in a region "before". Its child makes 20 more there, 30
 * in only() and, in a region "after" within it, 40 in the library, which it loads; then it writes FOLDER/1.mallow. The child of
 * that one makes 5 in both(), 4 in the library and 3 in last(), and writes FOLDER/2.mallow. */
#include <dlfcn.h>
#include <mallow/mallow.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

__typeof__(mallow_record_snapshot) mallow_record_snapshot __attribute__((weak));

/* One function each, which compilers would make one of where they are the same. */
enum { kBoth = 100, kOnly = 110, kLast = 120 };

static void* volatile kept;

static void __attribute__((noinline)) both(int blocks) {
  while (blocks-- > 0) kept = malloc(kBoth);
}
static void __attribute__((noinline)) only(int blocks) {
  while (blocks-- > 0) kept = malloc(kOnly);
}
static void __attribute__((noinline)) last(int blocks) {
  while (blocks-- > 0) kept = malloc(kLast);
}

static int Snapshot(const char* folder, int number) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%d.mallow", folder, number);
  return mkdir(path, 0700) == 0 && mallow_record_snapshot(path) == 0;
}

static int Await(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  mallow_region_begin("before");
  both(10);
  const pid_t child = fork();
  if (child != 0) return Await(child) != 0;
  void* const library = dlopen(argv[1], RTLD_NOW);
  void (*plugin)(int);
  *(void**)&plugin = dlsym(library, "plugin_a");
  both(20);
  only(30);
  mallow_region_begin("after");
  plugin(40);
  if (!Snapshot(argv[2], 1)) _exit(2);
  const pid_t grandchild = fork();
  if (grandchild != 0) _exit(Await(grandchild) != 0);
  both(5);
  plugin(4);
  last(3);
  _exit(Snapshot(argv[2], 2) ? 0 : 3);
}
