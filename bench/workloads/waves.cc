// Waves of blocks of one size: 25, 100, 400 and 1,600 of them are allocated and freed in the order in which they came,
// for sizes of 16 bytes to 4 KiB; PAIRS pairs of malloc and free for each size and length.
//
//	waves PAIRS
//
// Once more with a second thread alive that does nothing: an allocator that is quick only in a process of one thread
// shows it here.
#include <mutex>
#include <thread>
#include <vector>

#include "support.h"

namespace {

void Wave(std::vector<char*>& blocks, size_t bytes) {
  for (char*& block : blocks) {
    block = static_cast<char*>(bench::Allocate(bytes));
    bench::Sign(block, bytes, static_cast<uint8_t>(bytes >> 4));
  }
  for (char* block : blocks) {
    bench::CheckSigned(block, bytes, static_cast<uint8_t>(bytes >> 4));
    free(block);
  }
}

void AllWaves(uint64_t pairs) {
  for (size_t bytes : {16, 32, 64, 128, 256, 512, 1024, 2048, 4096})
    for (size_t length : {25, 100, 400, 1600}) {
      std::vector<char*> blocks(length);
      for (uint64_t done = 0; done < pairs; done += length) Wave(blocks, bytes);
    }
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 1, "PAIRS");
  AllWaves(arguments.Number(1));
  std::mutex running;
  running.lock();
  std::thread idle([&] { std::lock_guard wait(running); });
  AllWaves(arguments.Number(1));
  running.unlock();
  idle.join();
}
