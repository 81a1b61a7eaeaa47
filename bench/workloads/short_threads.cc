// THREADS threads one after the other, AT_ONCE of them at a time, each of which allocates BLOCKS blocks of 16 bytes to 4
// KiB, frees them and ends.
//
//	short_threads THREADS AT_ONCE BLOCKS
//
// What an allocator does at the birth and at the death of a thread is most of the work here; `metric rss_growth_kb` is
// how much the resident size grew from the first tenth of the threads to the last: nothing may stay behind.
#include <algorithm>
#include <thread>
#include <vector>

#include "support.h"

namespace {

void Live(uint64_t seed, uint64_t count) {
  bench::Random random(seed);
  std::vector<bench::Block> blocks(count);
  for (bench::Block& block : blocks) block.Take(random.Size(16, 4096), static_cast<uint8_t>(seed));
  for (bench::Block& block : blocks) block.Drop();
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 3, "THREADS AT_ONCE BLOCKS");
  const uint64_t all = arguments.Number(1), at_once = arguments.Number(2);
  uint64_t early = 0;
  for (uint64_t started = 0; started < all;) {
    std::vector<std::thread> threads;
    for (; threads.size() < at_once && started < all; started++)
      threads.emplace_back(Live, started, arguments.Number(3));
    for (std::thread& thread : threads) thread.join();
    if (early == 0 && started >= all / 10) early = bench::Resident();
  }
  const uint64_t late = std::max(bench::Resident(), early);
  bench::Metric("rss_growth_kb", static_cast<double>((late - early) >> 10));
}
