// THREADS threads, each with PAIRS pairs of malloc and free.
//
//	ten_threads THREADS PAIRS plain|mixed
//
// plain: 1,024 bytes, freed at once and never written to, which is all that many a comparison of allocators does.
// mixed: sizes from 16 bytes to 8 KiB, the blocks signed and checked, eight of them alive in each thread.
#include <thread>
#include <vector>

#include "support.h"

namespace {

void Plain(uint64_t pairs) {
  for (; pairs > 0; pairs--) {
    void* const block = malloc(1024);
    if (block != nullptr) free(block);
  }
}

void Mixed(uint64_t pairs, uint64_t seed) {
  bench::Random random(seed);
  bench::Block blocks[8];
  for (; pairs > 0; pairs--) {
    bench::Block& block = blocks[pairs % 8];
    block.Drop();
    block.Take(random.Size(16, 8192), static_cast<uint8_t>(pairs ^ seed));
  }
  for (bench::Block& block : blocks) block.Drop();
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 3, "THREADS PAIRS plain|mixed");
  const uint64_t pairs = arguments.Number(2);
  const bool plain = arguments.Chosen(3, "plain", "mixed");
  std::vector<std::thread> threads;
  for (uint64_t seed = arguments.Number(1); seed > 0; seed--)
    threads.emplace_back([=] { plain ? Plain(pairs) : Mixed(pairs, seed); });
  for (std::thread& thread : threads) thread.join();
}
