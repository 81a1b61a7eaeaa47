// N pairs of malloc and free (argument 1) in T threads (argument 2), on 50 call paths of depth 10 to 40 that are chosen at
// random: the worst case for a recorder, because the stack is another one at nearly every call.
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace {

uint32_t Draw(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

// The last 256 blocks are live; each new one takes the place of the oldest.
struct Ring {
  void* blocks[256] = {};
  unsigned next = 0;
  ~Ring() {
    for (void* block : blocks) std::free(block);
  }
};

template <int kPath>
[[gnu::noinline]] void Allocate(Ring& ring, uint32_t& state) {
  size_t bytes = 8 + (Draw(state) & 255);
  if ((state & 1023) == 0) bytes = 1024 + (state >> 22);
  char* block = static_cast<char*>(std::malloc(bytes));
  block[0] = 1;
  block[bytes - 1] = kPath;
  void*& place = ring.blocks[ring.next++ & 255];
  std::free(place);
  place = block;
}

template <int kPath, int kDepth>
[[gnu::noinline]] void Descend(Ring& ring, uint32_t& state) {
  if constexpr (kDepth <= 1)
    Allocate<kPath>(ring, state);
  else
    Descend<kPath, kDepth - 1>(ring, state);
  asm volatile("" ::: "memory");  // a call, not a jump
}

template <int kPath>
void Start(Ring& ring, uint32_t& state) {
  Descend<kPath, 10 + kPath * 30 / 49 - 3>(ring, state);
  asm volatile("" ::: "memory");
}

using Path = void (*)(Ring&, uint32_t&);

template <int... kPaths>
const Path* Paths(std::integer_sequence<int, kPaths...>) {
  static const Path paths[] = {Start<kPaths>...};
  return paths;
}

void Work(uint64_t pairs, uint32_t seed) {
  static const Path* const paths = Paths(std::make_integer_sequence<int, 50>{});
  Ring ring;
  for (uint32_t state = seed; pairs > 0; pairs--) paths[Draw(state) % 50](ring, state);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const uint64_t pairs = std::strtoull(arguments[1], nullptr, 10);
  const int threads = std::atoi(arguments[2]);
  if (threads == 1) {
    Work(pairs, 12345);
    return 0;
  }
  std::vector<std::thread> running;
  for (int i = 0; i < threads; i++) running.emplace_back(Work, pairs / threads, 12345u + i * 77777u);
  for (std::thread& thread : running) thread.join();
}
