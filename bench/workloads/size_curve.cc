// The price of a pair of malloc and free over all sizes from 8 bytes to 4 MiB, in nanoseconds of CPU time of the
// thread: no size may be a cliff. Both sides of each step are measured: every size here and the one byte longer.
//
//	size_curve PAIRS
//
// PAIRS per point and repeat; fewer for large blocks that are touched (one byte per 4 KiB), because there the pages are
// the work, and where a pair is slow. The least of five repeats counts: the first ones fill the caches.
#include <algorithm>

#include "support.h"

namespace {

constexpr size_t kLargest = size_t{4} << 20;
constexpr int kRepeats = 5;
constexpr uint64_t kSlow = 1000;  // nanoseconds, of a pair of which a sixteenth of PAIRS is enough

// Every 8 bytes up to 128, then 16 steps to the doubling up to 4 KiB, 8 above.
size_t Following(size_t bytes) {
  if (bytes < 128) return bytes + 8;
  size_t octave = 128;
  while (octave * 2 <= bytes) octave *= 2;
  return bytes + octave / (bytes < 4096 ? 16 : 8);
}

// Nanoseconds of CPU time for all of them. None where the kernel took off what a hypervisor had stolen, in a stretch as
// short as that.
uint64_t TimePairs(size_t bytes, uint64_t pairs, bool touched) {
  const uint64_t start = bench::ThreadCpu();
  for (uint64_t i = 0; i < pairs; i++) {
    void* const block = bench::Allocate(bytes);
    if (touched) bench::Touch(block, bytes);
    free(block);
  }
  return bench::ThreadCpu() - start;
}

double NanosecondsPerPair(size_t bytes, uint64_t pairs, bool touched) {
  const uint64_t few = std::max<uint64_t>(pairs / 16, 4);
  if (TimePairs(bytes, few, touched) > few * kSlow) pairs = few;
  uint64_t least = 0;
  for (int repeat = 0; repeat < kRepeats; repeat++) {
    const uint64_t time = TimePairs(bytes, pairs, touched);
    if (least == 0 || (time > 0 && time < least)) least = time;
  }
  return static_cast<double>(least) / static_cast<double>(pairs);
}

void Measure(size_t bytes, uint64_t pairs) {
  bench::Point("untouched", static_cast<double>(bytes), NanosecondsPerPair(bytes, pairs, false));
  const uint64_t fewer = std::max<uint64_t>(pairs / (1 + bytes / 8192), 4);
  bench::Point("touched", static_cast<double>(bytes), NanosecondsPerPair(bytes, fewer, true));
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 1, "PAIRS");
  for (size_t bytes = 8; bytes <= kLargest; bytes = Following(bytes)) {
    Measure(bytes, arguments.Number(1));
    Measure(bytes + 1, arguments.Number(1));
  }
}
