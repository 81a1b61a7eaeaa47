// SLOTS slots of which a random one is filled when it is empty and emptied when it is full, OPERATIONS times. Sizes of 8
// bytes to 16 KiB, every doubling equally frequent; a block is written in full and read back.
//
//	lifetimes SLOTS OPERATIONS
//
// Most blocks live long, their neighbours die at other times: holes of every size all over the heap.
#include <vector>

#include "support.h"

namespace {

constexpr uint64_t kWord = 0x0101010101010101u;

void Fill(bench::Block& block, uint32_t bytes, uint8_t owner) {
  block.start = static_cast<char*>(bench::Allocate(bytes));
  block.bytes = bytes;
  block.owner = owner;
  memset(block.start, owner, bytes);
}

void Empty(bench::Block& block) {
  const uint64_t expected = kWord * block.owner;
  uint64_t wrong = 0;
  for (uint32_t i = 0; i + sizeof(uint64_t) <= block.bytes; i += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, block.start + i, sizeof(word));
    wrong |= word ^ expected;
  }
  if (wrong != 0) bench::Fail("a block was changed by somebody else");
  block.Drop();
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 2, "SLOTS OPERATIONS");
  std::vector<bench::Block> slots(arguments.Number(1));
  bench::Random random(7);
  for (uint64_t i = arguments.Number(2); i > 0; i--) {
    bench::Block& block = slots[random.Below(static_cast<uint32_t>(slots.size()))];
    if (block.start == nullptr)
      Fill(block, random.Size(8, 16384), static_cast<uint8_t>(i));
    else
      Empty(block);
  }
  for (bench::Block& block : slots) block.Drop();
}
