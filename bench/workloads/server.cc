// A server: THREADS threads, each with 1,000 blocks of LEAST to MOST bytes, replace random ones of them. After REQUESTS
// replacements a thread starts its successor, hands it the blocks and ends; there are GENERATIONS of them.
//
//	server THREADS GENERATIONS REQUESTS LEAST MOST
//
// So nearly every block is freed by another thread than the one that allocated it, which by then is gone.
#include <array>
#include <thread>
#include <vector>

#include "support.h"

namespace {

using Blocks = std::array<bench::Block, 1000>;

void Serve(Blocks& blocks, uint64_t seed, uint64_t requests, uint32_t least, uint32_t most) {
  bench::Random random(seed);
  for (; requests > 0; requests--) {
    bench::Block& block = blocks[random.Below(blocks.size())];
    block.Drop();
    block.Take(least + random.Below(most - least + 1), static_cast<uint8_t>(seed));
  }
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 5, "THREADS GENERATIONS REQUESTS LEAST MOST");
  const uint64_t generations = arguments.Number(2), requests = arguments.Number(3);
  const uint32_t least = static_cast<uint32_t>(arguments.Number(4));
  const uint32_t most = static_cast<uint32_t>(arguments.Number(5));
  if (most < least) bench::Fail("MOST is below LEAST");

  // One thread at a time of each line works on its blocks; joining it is what hands them over.
  auto line = [=](uint64_t number) {
    Blocks blocks;
    for (uint64_t i = 0; i < generations; i++)
      std::thread(Serve, std::ref(blocks), number * generations + i, requests, least, most).join();
    for (bench::Block& block : blocks) block.Drop();
  };
  std::vector<std::thread> lines;
  for (uint64_t i = 0; i < arguments.Number(1); i++) lines.emplace_back(line, i);
  for (std::thread& one : lines) one.join();
}
