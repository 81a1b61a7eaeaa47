// Drives a fuzzer with random strings of bytes:
//
//     FUZZER [SEED [SECONDS]]
//
// plays the strings of SEED (default 1), SEED + 1, ... for so many SECONDS (default 10, with fractions; 0: one string).
// When one fails it says which, so that FUZZER SEED 0 plays it again.
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/fuzz.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongestInput = 8192;

const char* program;
volatile uint64_t playing;

void NameInput(int signal) {
  std::signal(signal, SIG_DFL);
  fprintf(stderr, "%s: it failed at seed %" PRIu64 "; again: %s %" PRIu64 " 0\n", program, playing, program,
          playing);
  raise(signal);
}

std::vector<uint8_t> InputOf(uint64_t seed) {
  mallow::FuzzRandom random(seed);
  std::vector<uint8_t> bytes(1 + random.Below(kLongestInput));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next() >> 56);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  program = argv[0];
  const uint64_t first = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1;
  const double seconds = argc > 2 ? strtod(argv[2], nullptr) : 10;
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS}) std::signal(signal, NameInput);
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  uint64_t seed = first;
  do {
    playing = seed;
    const std::vector<uint8_t> bytes = InputOf(seed++);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  } while (Clock::now() < end);
  printf("%" PRIu64 " inputs from seed %" PRIu64 " on, %" PRIu64 " operations\n", seed - first, first,
         mallow::fuzz_operations);
}
