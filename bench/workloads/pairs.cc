// N pairs of malloc and free (argument 1) of blocks of up to B bytes (argument 2) in T threads (argument 3); 256 blocks per
// thread are live. With a fourth argument all blocks have exactly B bytes.
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

void Work(uint64_t pairs, size_t most, bool exact, uint32_t seed) {
  char* blocks[256] = {};
  uint32_t state = seed;
  for (; pairs > 0; pairs--) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    char*& place = blocks[state & 255];
    std::free(place);
    const size_t bytes = exact ? most : 1 + (state >> 8) % most;
    place = static_cast<char*>(std::malloc(bytes));
    place[0] = 1;
  }
  for (char* block : blocks) std::free(block);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const uint64_t pairs = std::strtoull(arguments[1], nullptr, 10);
  const size_t most = std::strtoull(arguments[2], nullptr, 10);
  const int threads = std::atoi(arguments[3]);
  const bool exact = count > 4;
  std::vector<std::thread> running;
  for (int i = 1; i < threads; i++)
    running.emplace_back(Work, pairs / threads, most, exact, 12345u + i * 77777u);
  Work(pairs / threads, most, exact, 12345u);
  for (std::thread& thread : running) thread.join();
}
