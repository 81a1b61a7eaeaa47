// COUNT blocks of LEAST to MOST mebibytes one after the other; the last 20 are alive. One byte of each STEP KiB is written.
//
//	large_blocks COUNT LEAST MOST STEP
//
// Whether memory is kept and reused, split and merged, or fetched from the kernel each time is all that differs here, and
// with long steps what is spent on memory that nobody touches.
#include <iterator>

#include "support.h"

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 4, "COUNT LEAST MOST STEP");
  const uint32_t least = static_cast<uint32_t>(arguments.Number(2)) << 20;
  const uint32_t most = static_cast<uint32_t>(arguments.Number(3)) << 20;
  const uint64_t step = arguments.Number(4) << 10;
  if (most < least) bench::Fail("MOST is below LEAST");
  bench::Random random(6);
  bench::Block blocks[20];
  for (uint64_t i = arguments.Number(1); i > 0; i--) {
    bench::Block& block = blocks[random.Below(std::size(blocks))];
    block.Drop();
    const uint32_t bytes = least + random.Below(most - least + 1);
    block.start = static_cast<char*>(bench::Allocate(bytes));
    bench::Touch(block.start, bytes, step);
    block.bytes = bytes;
    block.owner = static_cast<uint8_t>(i);
    bench::Sign(block.start, bytes, block.owner);
  }
  for (bench::Block& block : blocks) block.Drop();
}
