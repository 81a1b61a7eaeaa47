// The file that the counting preload keeps per process image, mapped shared, so that it is complete in
// whatever way the process ends. Read by test/harness.
#pragma once

#include <stdint.h>

#define COUNT_MAGIC 0x544e554f43574c4dULL  // "MLWCOUNT"

enum CountKey {
  kMallocs,
  kCallocs,
  kReallocs,
  kStrdups,
  kWcsdups,
  kAligned,
  kNews,
  kFrees,
  kFreeNulls,
  kFailed,
  kBytes,
  kKeys
};

struct CountFile {
  uint64_t magic;
  uint64_t pid;
  char executable[256];
  uint64_t values[kKeys];
};
