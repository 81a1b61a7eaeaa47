// Random operations on the whole heap, in several threads, against what must hold of every block. The first argument
// is the seed (default 1), the second the number of seconds (default 10). Prints the seed that fails.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/bits.h"
#include "heap/central_list.h"
#include "heap/heap.h"
#include "heap/page_heap.h"
#include "heap/statistics.h"
#include "heap/thread_registry.h"
#include "heap/transfer_cache.h"

namespace mallow::heap {
namespace {

using Clock = std::chrono::steady_clock;

struct Block {
  unsigned char* p;
  size_t bytes;
  unsigned char fill;
};

// Blocks on their way to another thread.
std::mutex exchange_mutex;
std::vector<Block> exchange;

[[noreturn]] void Fail(unsigned seed, const char* what, const Block& block) {
  fprintf(stderr, "seed %u: %s: %zu bytes at %p\n", seed, what, block.bytes, static_cast<void*>(block.p));
  abort();
}

class Player {
 public:
  explicit Player(unsigned seed) : seed_(seed), random_(seed) {}

  void PlayUntil(Clock::time_point end) {
    while (Clock::now() < end) {
      for (int step = 0; step < 1000; ++step) Step();
    }
    while (!live_.empty()) FreeAny();
  }

 private:
  void Step() {
    const unsigned choice = random_() % 100;
    if (live_.size() < 50 || (choice < 48 && live_.size() < 3000)) return AllocateAny();
    if (choice < 90) return FreeAny();
    if (choice < 96) return ResizeAny();
    if (choice < 99) return ExchangeAny();
    if (random_() % 50 == 0) Trim(random_() % (4 << 20));
  }

  size_t AnySize() {
    switch (random_() % 64) {
      case 0:
        return random_() % (3 << 20);
      case 1:
      case 2:
      case 3:
        return random_() % (300 << 10);
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return random_() % (20 << 10);
      default:
        return random_() % 1100;
    }
  }

  void AllocateAny() {
    Block block = {nullptr, AnySize(), static_cast<unsigned char>(random_())};
    const unsigned kind = random_() % 4;
    const size_t alignment = kind == 0 ? size_t{16} << random_() % 13 : 16;
    block.p = static_cast<unsigned char*>(kind == 0   ? AllocateAligned(alignment, block.bytes)
                                          : kind == 1 ? AllocateZeroed(block.bytes)
                                                      : Allocate(block.bytes));
    if (block.p == nullptr) Fail(seed_, "no memory", block);
    if (!IsAligned(block.p, alignment)) Fail(seed_, "not aligned", block);
    if (UsableBytes(block.p) < block.bytes) Fail(seed_, "too short", block);
    if (kind == 1) Expect(block, 0, "not zero");
    memset(block.p, block.fill, block.bytes);
    live_.push_back(block);
  }

  void Expect(const Block& block, unsigned char fill, const char* what) {
    for (size_t i = 0; i < block.bytes; ++i) {
      if (block.p[i] != fill) Fail(seed_, what, block);
    }
  }

  Block TakeAny() {
    std::swap(live_[random_() % live_.size()], live_.back());
    const Block block = live_.back();
    live_.pop_back();
    return block;
  }

  void FreeAny() {
    const Block block = TakeAny();
    Expect(block, block.fill, "overwritten");
    Free(block.p);
  }

  void ResizeAny() {
    Block block = TakeAny();
    Expect(block, block.fill, "overwritten before it was resized");
    const size_t wanted = random_() % (2 * block.bytes + 1);
    if (ResizeInPlace(block.p, wanted)) {
      if (UsableBytes(block.p) < wanted) Fail(seed_, "too short after resizing", block);
      block.bytes = Min(block.bytes, wanted);
      Expect(block, block.fill, "lost by resizing");
      block.bytes = wanted;
      memset(block.p, block.fill, wanted);
    }
    live_.push_back(block);
  }

  void ExchangeAny() {
    const std::lock_guard<std::mutex> lock(exchange_mutex);
    exchange.push_back(TakeAny());
    if (exchange.size() > 100) {
      live_.push_back(exchange.front());
      exchange.erase(exchange.begin());
    }
  }

  const unsigned seed_;
  std::mt19937_64 random_;
  std::vector<Block> live_;
};

bool IsValid() {
  for (SizeClass c = 1; c < kClassCount; ++c) {
    if (!central_lists[c].IsValid(c) || !transfer_caches[c].IsValid(c)) return false;
  }
  return page_heap.IsValid();
}

int Run(unsigned seed, int seconds) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) {
    threads.emplace_back([seed, i, end] {
      // Short lives, so that threads come and go.
      for (unsigned life = 0; Clock::now() < end; ++life) {
        const Clock::time_point death = Min(end, Clock::now() + std::chrono::milliseconds(500));
        std::thread([=] { Player(seed * 1000 + life * 3 + i).PlayUntil(death); }).join();
      }
    });
  }
  while (Clock::now() < end) {
    if (!IsValid()) return fprintf(stderr, "seed %u: an invariant is broken\n", seed), 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (std::thread& thread : threads) thread.join();
  for (const Block& block : exchange) Free(block.p);
  Trim(0);
  const Statistics statistics = GetStatistics();
  if (!IsValid() || statistics.in_use_bytes != 0) {
    return fprintf(stderr, "seed %u: %zu bytes left\n", seed, static_cast<size_t>(statistics.in_use_bytes)),
           1;
  }
  return 0;
}

}  // namespace
}  // namespace mallow::heap

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 1;
  const int seconds = argc > 2 ? atoi(argv[2]) : 10;
  return mallow::heap::Run(seed, seconds);
}
