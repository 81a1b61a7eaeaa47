// THREADS threads, each with bins of blocks, work on random bins: a bin is emptied, filled, or some blocks of it are
// replaced, by malloc, calloc or realloc, of random sizes up to MOST. All the threads together do OPERATIONS; each one
// ends after a few thousand, with its bins, and a new thread follows it, as long as there is work.
//
//	ttest THREADS MOST OPERATIONS
//
// Prints `point THREADS MOST CPU_NS WALL_NS`: CPU and wall time per operation. A thread has as many bins as make some
// 2 MiB, between 4 and 400, so that it is the sizes that differ from row to row and not the amount of memory.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "support.h"

namespace {

constexpr uint32_t kBytesOfThread = 2 << 20;
constexpr uint32_t kBlocksOfBin = 24;
constexpr int kOperationsOfThread = 12000;

using Bin = std::array<bench::Block, kBlocksOfBin>;

class Worker {
 public:
  Worker(uint64_t seed, uint32_t most)
      : random_(seed),
        most_(most),
        owner_(static_cast<uint8_t>(seed)),
        bins_(std::clamp(kBytesOfThread / (most * kBlocksOfBin), 4u, 400u)) {}
  Worker(const Worker&) = delete;
  ~Worker() {
    for (Bin& bin : bins_)
      for (bench::Block& block : bin) block.Drop();
  }

  void Operate(int operations) {
    while (operations > 0) {
      Bin& bin = bins_[random_.Below(static_cast<uint32_t>(bins_.size()))];
      const uint32_t draw = random_.Next();
      if (draw % 8 == 0) {
        for (bench::Block& block : bin) block.Drop();
        operations -= kBlocksOfBin;
        continue;
      }
      for (uint32_t i = draw >> 8 & 3; i < kBlocksOfBin; i += 1 + (draw >> 16 & 3), operations--)
        Replace(bin[i]);
    }
  }

 private:
  void Replace(bench::Block& block) {
    const uint32_t draw = random_.Below(16);
    const uint32_t bytes = random_.Below(2) == 0 ? 1 + random_.Below(most_ / 2) : 1 + random_.Below(most_);
    if (draw == 0)
      Resize(block, bytes);
    else if (draw == 1)
      Zeroed(block, bytes);
    else {
      block.Drop();
      block.Take(bytes, owner_);
    }
  }

  // realloc keeps the first byte, and the last one when the block grew.
  void Resize(bench::Block& block, uint32_t bytes) {
    void* const moved = realloc(block.start, bytes);
    if (moved == nullptr) bench::Fail("realloc gave no block");
    const bool held = block.start != nullptr;
    block.start = static_cast<char*>(moved);
    if (held && block.start[0] != static_cast<char>(owner_)) bench::Fail("realloc lost the first byte");
    if (held && bytes >= block.bytes) bench::CheckSigned(moved, block.bytes, owner_);
    block.bytes = bytes;
    block.owner = owner_;
    bench::Sign(moved, bytes, owner_);
  }

  void Zeroed(bench::Block& block, uint32_t bytes) {
    block.Drop();
    block.start = static_cast<char*>(calloc(1, bytes));
    if (block.start == nullptr) bench::Fail("calloc gave no block");
    bench::CheckSigned(block.start, bytes, 0);
    block.bytes = bytes;
    block.owner = owner_;
    bench::Sign(block.start, bytes, owner_);
  }

  bench::Random random_;
  const uint32_t most_;
  const uint8_t owner_;
  std::vector<Bin> bins_;
};

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 3, "THREADS MOST OPERATIONS");
  const uint64_t threads = arguments.Number(1);
  const uint32_t most = static_cast<uint32_t>(arguments.Number(2));
  const uint64_t operations = arguments.Number(3);
  std::atomic<int64_t> left(static_cast<int64_t>(operations));
  std::atomic<uint64_t> started(0);
  const uint64_t cpu = bench::ProcessCpu(), wall = bench::Wall();

  auto follow_one_another = [&] {
    for (;;) {
      const int64_t before = left.fetch_sub(kOperationsOfThread);
      if (before <= 0) return;
      std::thread([&, before] {
        Worker worker(++started, most);
        worker.Operate(static_cast<int>(before < kOperationsOfThread ? before : kOperationsOfThread));
      }).join();
    }
  };
  std::vector<std::thread> lines;
  for (uint64_t i = 0; i < threads; i++) lines.emplace_back(follow_one_another);
  for (std::thread& line : lines) line.join();

  const double each = 1.0 / static_cast<double>(operations);
  const double cpu_each = static_cast<double>(bench::ProcessCpu() - cpu) * each;
  const double wall_each = static_cast<double>(bench::Wall() - wall) * each;
  printf("point %s %s %.9g %.9g\n", values[1], values[2], cpu_each, wall_each);
  bench::Metric("ops", static_cast<double>(operations));
}
