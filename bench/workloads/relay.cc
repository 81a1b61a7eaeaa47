// Waves of THREADS threads, WAVES of them. Each thread allocates OBJECTS arrays of numbers, most of them short and a few
// of hundreds of kilobytes, in bursts; frees some at once, keeps some to its end, and swaps every tenth with one that
// lies in a common store and stays there, for a thread of this or of a later wave to free.
//
//	relay THREADS WAVES OBJECTS
//
// Every number of an array is derived from its place and a cookie, and checked before the array is freed.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "support.h"

namespace {

constexpr uint64_t kCookie = 0xbf58476d1ce4e5b9u;
std::array<std::atomic<uint64_t*>, 1000> store;

// The first number is how many follow.
uint64_t* Make(uint64_t numbers) {
  uint64_t* const array = static_cast<uint64_t*>(bench::Allocate((numbers + 1) * sizeof(uint64_t)));
  array[0] = numbers;
  for (uint64_t i = 1; i <= numbers; i++) array[i] = (numbers - i) ^ kCookie;
  return array;
}

void Discard(uint64_t* array) {
  if (array == nullptr) return;
  for (uint64_t i = 1; i <= array[0]; i++)
    if (array[i] != ((array[0] - i) ^ kCookie)) bench::Fail("a number of an array is wrong");
  free(array);
}

uint64_t Length(bench::Random& random) {
  const uint32_t draw = random.Below(2000);
  if (draw == 0) return 8192 + random.Below(32768);
  if (draw < 20) return 512 + random.Below(1024);
  return 1 + random.Below(64);
}

void Run(uint64_t seed, uint64_t objects) {
  bench::Random random(seed);
  std::vector<uint64_t*> kept, passing;
  auto swap_with_store = [&](uint64_t*& array) { array = store[random.Below(store.size())].exchange(array); };
  while (objects > 0) {
    for (uint64_t burst = 1 + random.Below(100); burst > 0 && objects > 0; burst--, objects--) {
      uint64_t* array = Make(Length(random));
      if (random.Below(10) == 0) swap_with_store(array);
      if (array != nullptr) (random.Below(4) == 0 ? kept : passing).push_back(array);
    }
    while (!passing.empty() && random.Below(64) != 0) {
      const size_t i = random.Below(static_cast<uint32_t>(passing.size()));
      Discard(passing[i]);
      passing[i] = passing.back();
      passing.pop_back();
    }
  }
  for (uint64_t* array : passing) Discard(array);
  for (uint64_t* array : kept) Discard(array);
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 3, "THREADS WAVES OBJECTS");
  for (uint64_t wave = 0; wave < arguments.Number(2); wave++) {
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < arguments.Number(1); i++)
      threads.emplace_back(Run, wave * arguments.Number(1) + i, arguments.Number(3));
    for (std::thread& thread : threads) thread.join();
  }
  for (std::atomic<uint64_t*>& place : store) Discard(place);
}
