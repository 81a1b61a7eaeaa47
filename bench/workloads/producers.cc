// PRODUCERS threads allocate blocks of LEAST to MOST bytes, CONSUMERS other threads free them and allocate nothing, in
// batches of 256; BATCHES by each producer, at most ROOM of them waiting.
//
//	producers PRODUCERS CONSUMERS BATCHES ROOM LEAST MOST
//
// All memory flows one way: what the consumers free must find its way back to the producers, or the heap grows.
#include <thread>
#include <vector>

#include "batches.h"

namespace {

void Produce(bench::Batches& queue, uint64_t seed, uint64_t batches, uint32_t least, uint32_t most) {
  bench::Random random(seed);
  for (; batches > 0; batches--) {
    bench::Batch* const batch = queue.Empty();
    for (bench::Block& block : *batch)
      block.Take(least + random.Below(most - least + 1), static_cast<uint8_t>(batches));
    queue.Put(batch);
  }
}

void Consume(bench::Batches& queue) {
  while (bench::Batch* const batch = queue.Take()) {
    for (bench::Block& block : *batch) block.Drop();
    queue.GiveBack(batch);
  }
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 6, "PRODUCERS CONSUMERS BATCHES ROOM LEAST MOST");
  const uint32_t least = static_cast<uint32_t>(arguments.Number(5));
  const uint32_t most = static_cast<uint32_t>(arguments.Number(6));
  if (most < least) bench::Fail("MOST is below LEAST");
  bench::Batches queue(arguments.Number(4));
  std::vector<std::thread> producers, consumers;
  for (uint64_t i = 0; i < arguments.Number(1); i++)
    producers.emplace_back(Produce, std::ref(queue), i, arguments.Number(3), least, most);
  for (uint64_t i = 0; i < arguments.Number(2); i++) consumers.emplace_back(Consume, std::ref(queue));
  for (std::thread& thread : producers) thread.join();
  queue.Close();
  for (std::thread& thread : consumers) thread.join();
}
