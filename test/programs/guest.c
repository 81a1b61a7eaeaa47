// Allocates on 1,000 stacks, changes its own surroundings, allocates on 4,000 new stacks, and lets a fork child make 100
// allocations. Prints what came of it and ends with status 5.
//
//   guest CHANGE [FOLDER]
//
// CHANGE: nothing, descriptors (close all), chroot and chdir (into FOLDER), nobody (drop the user id), mask (umask 0777),
// files, file_size, memory (resource limits), counter (none of the processor's any more), remove (FOLDER and what is in it), fill (FOLDER's
// disk, when all that was written is on it, for the first 100 of the new stacks), processes (as many as there may be, for a second).
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int problems;
static int made;

static void expect(int condition) { problems += !condition; }

__attribute__((noinline)) static void allocate(void) {
  errno = EXDEV;
  char *block = malloc(40);
  expect(block != NULL && errno == EXDEV);
  if (!block) return;
  memset(block, 1, 40);
  made++;
  free(block);
  expect(errno == EXDEV);
}

static void left(unsigned path, int depth);
static void right(unsigned path, int depth);

static void descend(unsigned path, int depth) {
  if (depth == 0)
    allocate();
  else if (path & 1)
    right(path >> 1, depth - 1);
  else
    left(path >> 1, depth - 1);
}

__attribute__((noinline)) static void left(unsigned path, int depth) {
  descend(path, depth);
  __asm__ volatile("");
}

__attribute__((noinline)) static void right(unsigned path, int depth) {
  descend(path, depth);
  __asm__ volatile("" ::: "memory");
}

static void limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit limits;
  expect(getrlimit(resource, &limits) == 0);
  limits.rlim_cur = most;
  expect(setrlimit(resource, &limits) == 0);
}

static rlim_t address_space(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  expect(file && fscanf(file, "%lu", &pages) == 1);
  if (file) fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void remove_folder(const char *folder) {
  DIR *listing = opendir(folder);
  for (struct dirent *entry; listing && (entry = readdir(listing));)
    if (entry->d_name[0] != '.') expect(unlinkat(dirfd(listing), entry->d_name, 0) == 0);
  if (listing) closedir(listing);
  rmdir(folder);
}

static void fill_disk(const char *folder) {
  static const char zeros[1 << 16];
  int place = open(folder, O_RDONLY | O_DIRECTORY);
  expect(place >= 0 && syncfs(place) == 0);
  int file = openat(place, "filling", O_CREAT | O_WRONLY, 0600);
  expect(file >= 0);
  for (size_t bytes = sizeof(zeros); bytes >= 512; bytes /= 2)
    while (write(file, zeros, bytes) > 0) continue;
  expect(syncfs(place) == 0);
  for (unsigned path = 0; path < 100; path++) descend(path, 12);
  close(file);
  expect(unlinkat(place, "filling", 0) == 0 && syncfs(place) == 0);
  close(place);
}

static void fill_processes(void) {
  enum { kMost = 1000 };
  static pid_t children[kMost];
  int count = 0;
  while (count < kMost && (children[count] = fork()) > 0) count++;
  if (count < kMost && children[count] == 0)
    for (descend(0, 14);;) pause();
  expect(count < kMost && errno == EAGAIN);
  sleep(1);
  for (int child = 0; child < count; child++)
    expect(kill(children[child], SIGKILL) == 0 && waitpid(children[child], NULL, 0) == children[child]);
}

static void change(const char *what, const char *folder) {
  if (!strcmp(what, "descriptors")) {
    for (int descriptor = 3; descriptor < 4096; descriptor++) close(descriptor);
  } else if (!strcmp(what, "chroot")) {
    expect(chroot(folder) == 0 && chdir("/") == 0);
  } else if (!strcmp(what, "chdir")) {
    expect(chdir(folder) == 0);
  } else if (!strcmp(what, "nobody")) {
    expect(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
  } else if (!strcmp(what, "mask")) {
    umask(0777);
  } else if (!strcmp(what, "files")) {
    limit(RLIMIT_NOFILE, 3);
  } else if (!strcmp(what, "file_size")) {
    limit(RLIMIT_FSIZE, 4096);
  } else if (!strcmp(what, "memory")) {
    limit(RLIMIT_AS, address_space() + (16 << 20));
  } else if (!strcmp(what, "counter")) {
    expect(prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0);
  } else if (!strcmp(what, "remove")) {
    remove_folder(folder);
  } else if (!strcmp(what, "fill")) {
    fill_disk(folder);
  } else if (!strcmp(what, "processes")) {
    fill_processes();
  } else {
    expect(!strcmp(what, "nothing"));
  }
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  for (unsigned path = 0; path < 1000; path++) descend(path, 10);
  change(arguments[1], count > 2 ? arguments[2] : "");
  for (unsigned path = strcmp(arguments[1], "fill") ? 0 : 100; path < 4000; path++) descend(path, 12);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    for (unsigned path = 0; path < 100; path++) descend(path, 14);
    _exit(problems ? 9 : 7);
  }
  int status = 0;
  expect(child > 0 && waitpid(child, &status, 0) == child);
  printf("%s: %d allocations, %d problems, child ended with %d\n", arguments[1], made, problems,
         WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return 5;
}
