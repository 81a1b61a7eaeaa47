#include "os/cycle_counter.h"

#include <cpuid.h>
#include <string.h>

#include "os/file.h"

namespace mallow::os {
namespace {

constexpr unsigned kFeatures = 0x80000001, kHasOrderedRead = 1u << 27;
constexpr unsigned kPower = 0x80000007, kInvariant = 1u << 8;

bool ProcessorPromises() {
  unsigned a, b, c, d;
  if (__get_cpuid(kFeatures, &a, &b, &c, &d) == 0 || (d & kHasOrderedRead) == 0) return false;
  return __get_cpuid(kPower, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
}

// The kernel takes a counter that it has found to be wrong out of this list.
bool KernelAgrees() {
  const int fd = OpenForReading("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  if (fd < 0) return false;
  char list[256] = {' '};
  const long bytes = Read(fd, list + 1, sizeof(list) - 3);
  Close(fd);
  if (bytes <= 0) return false;
  for (long i = 1; i <= bytes; i++) {
    if (list[i] == '\n') list[i] = ' ';
  }
  list[bytes + 1] = ' ';
  return strstr(list, " tsc ") != nullptr;
}

}  // namespace

bool CycleCountersAgree() { return ProcessorPromises() && KernelAgrees(); }

}  // namespace mallow::os
