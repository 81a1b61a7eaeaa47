// What the process holds in memory, in bytes.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static size_t ResidentBytes(void) {
  static char text[256];
  FILE* statm = fopen("/proc/self/statm", "r");
  unsigned long total, resident;
  if (statm == NULL || fgets(text, sizeof(text), statm) == NULL ||
      sscanf(text, "%lu %lu", &total, &resident) != 2)
    abort();
  fclose(statm);
  return resident * (size_t)sysconf(_SC_PAGESIZE);
}
