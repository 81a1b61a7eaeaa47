// A heap of mixed sizes that swells and ebbs: COUNT blocks of 16 to 1,039 bytes, half of them freed (every second one),
// allocated again in other sizes, and all freed, from the last to the first; ROUNDS times.
//
//	tide COUNT ROUNDS
//
// Holes come from one round of sizes and are filled by another, so spans change their class.
#include <vector>

#include "support.h"

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 2, "COUNT ROUNDS");
  std::vector<bench::Block> blocks(arguments.Number(1));
  bench::Random random(4);
  auto take = [&](size_t i) { blocks[i].Take(16 + random.Below(1024), static_cast<uint8_t>(i)); };
  for (uint64_t round = arguments.Number(2); round > 0; round--) {
    for (size_t i = 0; i < blocks.size(); i++) take(i);
    for (size_t i = 0; i < blocks.size(); i += 2) blocks[i].Drop();
    for (size_t i = 0; i < blocks.size(); i += 2) take(i);
    for (size_t i = blocks.size(); i-- > 0;) blocks[i].Drop();
  }
}
