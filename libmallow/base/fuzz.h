// For the fuzzers (*_fuzz.cc): random programs against a container and against a simple model of it.
//
// A fuzzer defines LLVMFuzzerTestOneInput, which plays one string of bytes as a program, so that libFuzzer can
// drive it (`cmake --preset libfuzzer && cmake --build --preset libfuzzer`); elsewhere fuzz_main.cc drives it with
// random strings. What does not hold ends the process (MALLOW_CHECK).
#pragma once

#include "base/check.h"
#include "base/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace mallow {

// Operations that all inputs together have played.
inline uint64_t fuzz_operations = 0;

// Reads choices from the bytes; past their end every choice is 0.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}

  bool done() const { return next_ == end_; }

  // One of `count` operations, which is counted.
  size_t Operation(size_t count) {
    ++fuzz_operations;
    return Below(count);
  }

  // A number below `limit`, which is at least 1.
  uint64_t Below(uint64_t limit) {
    uint64_t value = 0;
    for (uint64_t range = 1; range < limit && range <= UINT64_MAX / 256; range *= 256)
      value = value * 256 + Byte();
    return value % limit;
  }

  // From 0 to `most`, each magnitude as likely as the others.
  uint64_t Magnitude(uint64_t most) {
    uint64_t limit = 1;
    for (uint64_t shift = Below(64); shift > 0 && limit <= most / 2; --shift) limit *= 2;
    return Below(limit > most / 2 ? most + 1 : limit * 2);
  }

  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  uint8_t Byte() { return done() ? 0 : *next_++; }

  const uint8_t* next_;
  const uint8_t* const end_;
};

// A sequence of numbers from a seed, for what is not worth bytes of the input.
class FuzzRandom {
 public:
  explicit FuzzRandom(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  uint64_t Below(uint64_t limit) { return (Next() >> 11) % limit; }

 private:
  uint64_t state_;
};

}  // namespace mallow
