// A working set in one thread: blocks of 8 to 520 bytes, each signed by its owner and checked when it is freed.
//
//	working_set lifo OPERATIONS DEPTH    a stack that is filled to DEPTH and emptied, over and over
//	working_set fifo OPERATIONS DEPTH    the oldest of DEPTH blocks gives way to the newest
//	working_set random OPERATIONS DEPTH  a random one of DEPTH blocks is replaced
//
// OPERATIONS are pairs of malloc and free. What differs is in what order freed blocks are wanted again: lifo stays in the
// thread's list, fifo walks through the memory of the class, random has the cache misses of a real heap.
#include <vector>

#include "support.h"

namespace {

using Set = std::vector<bench::Block>;

uint32_t AnySize(bench::Random& random) { return 8 + random.Below(513); }

void Lifo(Set& set, uint64_t operations) {
  bench::Random random(1);
  for (uint64_t done = 0; done < operations; done += set.size()) {
    for (size_t i = 0; i < set.size(); i++) set[i].Take(AnySize(random), static_cast<uint8_t>(i));
    for (size_t i = set.size(); i-- > 0;) set[i].Drop();
  }
}

void Fifo(Set& set, uint64_t operations) {
  bench::Random random(2);
  size_t oldest = 0;
  for (uint64_t done = 0; done < operations; done++) {
    set[oldest].Drop();
    set[oldest].Take(AnySize(random), static_cast<uint8_t>(done));
    if (++oldest == set.size()) oldest = 0;
  }
}

void Replace(Set& set, uint64_t operations) {
  bench::Random random(3);
  for (uint64_t done = 0; done < operations; done++) {
    bench::Block& block = set[random.Below(static_cast<uint32_t>(set.size()))];
    block.Drop();
    block.Take(AnySize(random), static_cast<uint8_t>(done));
  }
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 3, "lifo|fifo|random OPERATIONS DEPTH");
  Set set(arguments.Number(3));
  if (strcmp(values[1], "lifo") == 0)
    Lifo(set, arguments.Number(2));
  else if (arguments.Chosen(1, "fifo", "random"))
    Fifo(set, arguments.Number(2));
  else
    Replace(set, arguments.Number(2));
  for (bench::Block& block : set) block.Drop();
}
