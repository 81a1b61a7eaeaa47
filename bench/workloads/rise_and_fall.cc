// A heap that grows to COUNT blocks of BYTES and shrinks to nothing, ROUNDS times and once more to begin with, which is
// not counted: the pages are the kernel's work, and measured elsewhere.
//
//	rise_and_fall COUNT BYTES ROUNDS malloc|free|both
//
// Blocks are freed in the order in which they were allocated. The last word says what `metric cpu_seconds` holds: the
// time of growing, of shrinking, or of both. Here the blocks pass through every layer of an allocator: no thread keeps
// that many.
#include <vector>

#include "support.h"

namespace {

struct Price {
  uint64_t growing = 0;    // nanoseconds of CPU time
  uint64_t shrinking = 0;  // likewise
};

Price Round(std::vector<char*>& blocks, size_t bytes) {
  const uint64_t start = bench::ThreadCpu();
  for (char*& block : blocks) block = static_cast<char*>(bench::Allocate(bytes));
  const uint64_t grown = bench::ThreadCpu();
  for (size_t i = 0; i < blocks.size(); i++) bench::Sign(blocks[i], bytes, static_cast<uint8_t>(i));
  for (size_t i = 0; i < blocks.size(); i++) bench::CheckSigned(blocks[i], bytes, static_cast<uint8_t>(i));
  const uint64_t full = bench::ThreadCpu();
  for (char* block : blocks) free(block);
  return {grown - start, bench::ThreadCpu() - full};
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 4, "COUNT BYTES ROUNDS malloc|free|both");
  std::vector<char*> blocks(arguments.Number(1));
  const size_t bytes = arguments.Number(2);
  Round(blocks, bytes);
  Price sum;
  for (uint64_t round = arguments.Number(3); round > 0; round--) {
    const Price price = Round(blocks, bytes);
    sum.growing += price.growing;
    sum.shrinking += price.shrinking;
  }
  uint64_t counted = sum.growing + sum.shrinking;
  if (strcmp(values[4], "both") != 0)
    counted = arguments.Chosen(4, "malloc", "free") ? sum.growing : sum.shrinking;
  bench::Metric("cpu_seconds", static_cast<double>(counted) * 1e-9);
}
