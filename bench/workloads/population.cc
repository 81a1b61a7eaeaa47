// THREADS threads, each with a population of 2,048 blocks of which a random one gives way to a new one, OPERATIONS times.
// The sizes are those of ordinary programs: each doubling from 4 bytes to 32 KiB is half as frequent as the one before.
//
//	population THREADS OPERATIONS
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "support.h"

namespace {

// 4 bytes times two for each tail of a coin, at most 16 KiB, and up to as much again.
uint32_t Ordinary(bench::Random& random) {
  const uint32_t doublings = static_cast<uint32_t>(__builtin_ctz(random.Next() | 1u << 12));
  return (4u << doublings) + random.Below(4u << doublings);
}

void Live(uint64_t seed, uint64_t operations) {
  bench::Random random(seed);
  auto blocks = std::make_unique<std::array<bench::Block, 2048>>();
  for (; operations > 0; operations--) {
    bench::Block& block = (*blocks)[random.Below(static_cast<uint32_t>(blocks->size()))];
    block.Drop();
    block.Take(Ordinary(random), static_cast<uint8_t>(operations));
  }
  for (bench::Block& block : *blocks) block.Drop();
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 2, "THREADS OPERATIONS");
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < arguments.Number(1); i++) threads.emplace_back(Live, i, arguments.Number(2));
  for (std::thread& thread : threads) thread.join();
}
