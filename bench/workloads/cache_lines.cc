// THREADS threads each write WRITES times to a block of 8 bytes, free it and take another one, TURNS times.
//
//	cache_lines THREADS TURNS WRITES thrash|scratch
//
// thrash: all blocks are the thread's own. An allocator that carves the blocks of several threads from one cache line
// makes every write a miss.
// scratch: the first block of each thread was allocated by the main thread, next to those of the others. An allocator
// that hands a line on from thread to thread by such blocks goes on with it.
#include <thread>
#include <vector>

#include "support.h"

namespace {

constexpr size_t kBytes = 8;

void Work(char* given, uint64_t turns, uint64_t writes) {
  for (uint64_t turn = 0; turn < turns; turn++) {
    volatile char* const block = given != nullptr ? given : static_cast<char*>(bench::Allocate(kBytes));
    for (size_t i = 0; i < kBytes; i++) block[i] = 0;
    for (uint64_t i = 0; i < writes; i++) block[i % kBytes] = static_cast<char>(block[i % kBytes] + 1);
    if (block[0] != static_cast<char>((writes + kBytes - 1) / kBytes))
      bench::Fail("a block was changed by somebody else");
    free(const_cast<char*>(block));
    given = nullptr;
  }
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 4, "THREADS TURNS WRITES thrash|scratch");
  const bool thrash = arguments.Chosen(4, "thrash", "scratch");
  std::vector<char*> first(arguments.Number(1));
  if (!thrash)
    for (char*& block : first) block = static_cast<char*>(bench::Allocate(kBytes));
  std::vector<std::thread> threads;
  for (char* block : first) threads.emplace_back(Work, block, arguments.Number(2), arguments.Number(3));
  for (std::thread& thread : threads) thread.join();
}
