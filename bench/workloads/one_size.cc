// Pairs of malloc and free of one size, nothing else alive: the bare price of the hit path, or of what stands behind it
// for sizes that a thread keeps no blocks of.
//
//	one_size PAIRS BYTES touched|untouched
//
// touched: one byte of each 4 KiB is written before the block is freed, so that memory given back at once is paid for.
#include "support.h"

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 3, "PAIRS BYTES touched|untouched");
  const size_t bytes = arguments.Number(2);
  const bool touched = arguments.Chosen(3, "touched", "untouched");
  for (uint64_t pairs = arguments.Number(1); pairs > 0; pairs--) {
    void* const block = bench::Allocate(bytes);
    if (touched) bench::Touch(block, bytes);
    free(block);
  }
}
