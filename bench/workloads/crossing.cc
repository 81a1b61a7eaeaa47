// PAIRS pairs of threads around one queue: the one of each pair allocates blocks of many sizes, the other one frees
// whatever comes, whoever allocated it; BATCHES by each allocating thread.
//
//	crossing PAIRS BATCHES
//
// Unlike in `producers`, a freeing thread also allocates, a little: one small block for each batch, freed with the next.
#include <iterator>
#include <thread>
#include <vector>

#include "batches.h"

namespace {

constexpr uint32_t kSizes[] = {8,   12,  16,   24,   32,   48, 64, 96, 128, 192, 256, 384,
                               512, 768, 1024, 1536, 2048, 40, 56, 80, 112, 160, 224, 320};

void Fill(bench::Batches& queue, uint64_t seed, uint64_t batches) {
  bench::Random random(seed);
  for (; batches > 0; batches--) {
    bench::Batch* const batch = queue.Empty();
    for (bench::Block& block : *batch)
      block.Take(kSizes[random.Below(std::size(kSizes))], static_cast<uint8_t>(seed));
    queue.Put(batch);
  }
}

void Drain(bench::Batches& queue) {
  bench::Block note;
  while (bench::Batch* const batch = queue.Take()) {
    for (bench::Block& block : *batch) block.Drop();
    queue.GiveBack(batch);
    note.Drop();
    note.Take(100, 1);
  }
  note.Drop();
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 2, "PAIRS BATCHES");
  const uint64_t pairs = arguments.Number(1);
  bench::Batches queue(16 * pairs);
  std::vector<std::thread> filling, draining;
  for (uint64_t i = 0; i < pairs; i++) {
    filling.emplace_back(Fill, std::ref(queue), i, arguments.Number(2));
    draining.emplace_back(Drain, std::ref(queue));
  }
  for (std::thread& thread : filling) thread.join();
  queue.Close();
  for (std::thread& thread : draining) thread.join();
}
