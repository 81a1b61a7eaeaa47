// THREADS threads, each with a pool of SLOTS blocks through which it goes round and round: sizes from 8 bytes to 1 KiB
// that recur in a cycle, small ones many times, large ones seldom. In each round a part of the pool lives on.
//
//	cyclic_pool THREADS SLOTS ROUNDS own|exchanged
//
// own: a thread frees its blocks itself: every third round the newest first, otherwise the oldest first.
// exchanged: before it is freed a block is swapped with one that another thread left behind, so most are freed by a
// thread that did not allocate them.
#include <atomic>
#include <iterator>
#include <thread>
#include <vector>

#include "support.h"

namespace {

constexpr uint32_t kCycle[] = {8, 16,  24, 32,  40, 16,  64, 48,  24, 96,
                               8, 128, 32, 200, 16, 320, 56, 512, 24, 1024};
constexpr size_t kPlaces = 4096;

// Where threads leave blocks for each other.
using Exchange = std::vector<std::atomic<bench::Block*>>;

// The block and its description are one allocation each, so both cross between threads.
bench::Block* Make(uint32_t bytes, uint8_t owner) {
  bench::Block* const block = new (bench::Allocate(sizeof(bench::Block))) bench::Block;
  block->Take(bytes, owner);
  return block;
}

void Discard(bench::Block* block) {
  if (block == nullptr) return;
  block->Drop();
  free(block);
}

class Pool {
 public:
  Pool(size_t slots, uint64_t number, Exchange* exchange)
      : slots_(slots), exchange_(exchange), random_(number), owner_(static_cast<uint8_t>(number)) {}
  ~Pool() {
    for (bench::Block* block : slots_) Discard(block);
  }
  Pool(const Pool&) = delete;

  // Every seventh block of the round before lives on.
  void Round(uint64_t round) {
    const size_t count = slots_.size();
    for (size_t i = 0; i < count; i++) {
      const size_t at = round % 3 == 0 ? count - 1 - i : i;
      if (at % 7 == round % 7) continue;
      Release(slots_[at]);
      slots_[at] = nullptr;
    }
    for (size_t i = 0; i < count; i++)
      if (slots_[i] == nullptr) slots_[i] = Make(kCycle[(i + round) % std::size(kCycle)], owner_);
  }

 private:
  void Release(bench::Block* block) {
    if (exchange_ != nullptr) block = (*exchange_)[random_.Below(kPlaces)].exchange(block);
    Discard(block);
  }

  std::vector<bench::Block*> slots_;
  Exchange* const exchange_;
  bench::Random random_;
  const uint8_t owner_;
};

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 4, "THREADS SLOTS ROUNDS own|exchanged");
  const bool own = arguments.Chosen(4, "own", "exchanged");
  Exchange exchange(own ? 0 : kPlaces);
  std::vector<std::thread> threads;
  for (uint64_t number = 0; number < arguments.Number(1); number++)
    threads.emplace_back([&, number] {
      Pool pool(arguments.Number(2), number, own ? nullptr : &exchange);
      for (uint64_t round = 0; round < arguments.Number(3); round++) pool.Round(round);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::atomic<bench::Block*>& place : exchange) Discard(place);
}
