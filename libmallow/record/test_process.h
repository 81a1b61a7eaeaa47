// What tests ask of processes: their descriptors, and children of which limits and the like are not left behind.
#pragma once

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mallow::record {

inline int OpenDescriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) count++;
  closedir(folder);
  return count;
}

// Runs `body` in a child; its result is the child's exit status 0.
template <typename Body>
bool InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace mallow::record
