// What the programs of the allocator table share: arguments, a generator of numbers, blocks that are signed by their
// owner, clocks, and the lines that the runner reads.
//
// A program does fixed work from a fixed seed and checks it: a block that was handed out twice, or that overlaps
// another one, loses its signature, and the program fails.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace bench {

[[noreturn]] inline void Fail(const char* what) {
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
  _exit(1);
}

// The arguments of main: whole numbers above 0, and words.
class Arguments {
 public:
  // Leaves with `usage` unless there are exactly `wanted` of them.
  Arguments(int count, char** values, int wanted, const char* usage) : values_(values), usage_(usage) {
    if (count != wanted + 1) Leave();
  }

  uint64_t Number(int i) const {
    char* end;
    errno = 0;
    const uint64_t value = strtoull(values_[i], &end, 10);
    if (errno != 0 || end == values_[i] || *end != 0 || value == 0 || values_[i][0] == '-') Leave();
    return value;
  }

  // Whether argument i is the first word, and not the second.
  bool Chosen(int i, const char* word, const char* other) const {
    const bool chosen = strcmp(values_[i], word) == 0;
    if (!chosen && strcmp(values_[i], other) != 0) Leave();
    return chosen;
  }

 private:
  [[noreturn]] void Leave() const {
    fprintf(stderr, "usage: %s %s\n", program_invocation_short_name, usage_);
    _exit(2);
  }

  char** values_;
  const char* usage_;
};

// A linear congruential generator: short enough not to be what is measured.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  uint32_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 32);
  }

  // In [0, bound).
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>((uint64_t{Next()} * bound) >> 32); }

  // In [least, most], half of them below the geometric mean of the two: sizes of a program are small mostly.
  uint32_t Size(uint32_t least, uint32_t most) {
    uint32_t octaves = 0;
    while ((least << (octaves + 1)) <= most) octaves++;
    const uint32_t low = least << Below(octaves + 1);
    const uint32_t size = low + Below(low);
    return size < most ? size : most;
  }

 private:
  uint64_t state_;
};

inline void* Allocate(size_t bytes) {
  void* block = malloc(bytes);
  if (block == nullptr) Fail("malloc gave no block");
  return block;
}

// The owner signs the first and the last byte.
inline void Sign(void* block, size_t bytes, uint8_t owner) {
  char* const text = static_cast<char*>(block);
  text[0] = static_cast<char>(owner);
  text[bytes - 1] = static_cast<char>(owner);
}

inline void CheckSigned(const void* block, size_t bytes, uint8_t owner) {
  const char* const text = static_cast<const char*>(block);
  if (text[0] != static_cast<char>(owner) || text[bytes - 1] != static_cast<char>(owner))
    Fail("a block was changed by somebody else");
}

// Writes one byte to each 4 KiB of a block, or to each `step` bytes.
inline void Touch(void* block, size_t bytes, size_t step = 4096) {
  volatile char* const text = static_cast<char*>(block);
  for (size_t i = 0; i < bytes; i += step) text[i] = 1;
}

// A block and what its owner knows of it.
struct Block {
  char* start = nullptr;
  uint32_t bytes = 0;
  uint8_t owner = 0;

  void Take(uint32_t size, uint8_t by) {
    start = static_cast<char*>(Allocate(size));
    bytes = size;
    owner = by;
    Sign(start, size, by);
  }
  void Drop() {
    if (start == nullptr) return;
    CheckSigned(start, bytes, owner);
    free(start);
    start = nullptr;
  }
};

inline uint64_t Nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}
inline uint64_t ThreadCpu() { return Nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
inline uint64_t ProcessCpu() { return Nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }
inline uint64_t Wall() { return Nanoseconds(CLOCK_MONOTONIC); }

// Resident bytes of this process.
inline uint64_t Resident() {
  FILE* const file = fopen("/proc/self/statm", "re");
  unsigned long pages = 0;
  const bool known = file != nullptr && fscanf(file, "%*lu %lu", &pages) == 1;
  if (file != nullptr) fclose(file);
  if (!known) Fail("/proc/self/statm cannot be read");
  return pages * 4096u;
}

inline void Metric(const char* name, double value) { printf("metric %s %.9g\n", name, value); }
inline void Point(const char* series, double x, double y) { printf("point %s %.9g %.9g\n", series, x, y); }

}  // namespace bench
