// Allocates N blocks (argument 1) of 16 to 1039 bytes, writes to each, frees every second one, allocates these again, and
// frees all; R times (argument 2).
#include <cstdint>
#include <cstdlib>
#include <vector>

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::vector<char*> blocks(std::strtoull(arguments[1], nullptr, 10));
  uint32_t state = 12345;
  auto allocate = [&state] {
    state = state * 1664525u + 1013904223u;
    char* block = static_cast<char*>(std::malloc(16 + (state >> 22)));
    block[0] = 1;
    return block;
  };
  for (int round = std::atoi(arguments[2]); round > 0; round--) {
    for (char*& block : blocks) block = allocate();
    for (size_t i = 0; i < blocks.size(); i += 2) std::free(blocks[i]);
    for (size_t i = 0; i < blocks.size(); i += 2) blocks[i] = allocate();
    for (char* block : blocks) std::free(block);
  }
}
