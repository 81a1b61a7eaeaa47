// A heap of MEBIBYTES that lives through PHASES of different sizes: 16 to 64 bytes, then up to 256, up to 1 KiB and so on
// to 256 KiB and from the beginning again. In each phase nine tenths of what is alive give way, in random order, to blocks
// of the phase's sizes; then for PAUSE milliseconds there is little to do.
//
//	fragmentation MEBIBYTES PHASES PAUSE
//
// The live bytes stay the same, so that what grows is holes that no later size fits into. `rss_over_live` is the end's.
#include <time.h>

#include <vector>

#include "timeline.h"

namespace {

class Heap {
 public:
  explicit Heap(uint64_t bytes) : wanted_(bytes) { blocks_.reserve(bytes / 16); }
  ~Heap() {
    for (bench::Block& block : blocks_) block.Drop();
  }
  Heap(const Heap&) = delete;

  // The array of blocks is alive as well, as far as it was ever written to.
  uint64_t live() const { return bytes_ + most_ * sizeof(bench::Block); }

  void Thin() {
    for (uint64_t target = wanted_ / 10; bytes_ > target;) DropAny();
  }
  void Grow(uint32_t least, uint32_t most) {
    while (bytes_ < wanted_) TakeOne(least, most);
  }
  void Replace(uint32_t least, uint32_t most) {
    DropAny();
    TakeOne(least, most);
  }

 private:
  void TakeOne(uint32_t least, uint32_t most) {
    bench::Block& block = blocks_.emplace_back();
    block.Take(random_.Size(least, most), static_cast<uint8_t>(random_.Next()));
    bench::Touch(block.start, block.bytes);
    bench::Sign(block.start, block.bytes, block.owner);
    bytes_ += block.bytes;
    most_ = std::max(most_, blocks_.size());
  }
  void DropAny() {
    bench::Block& block = blocks_[random_.Below(static_cast<uint32_t>(blocks_.size()))];
    bytes_ -= block.bytes;
    block.Drop();
    block = blocks_.back();
    blocks_.pop_back();
  }

  const uint64_t wanted_;
  uint64_t bytes_ = 0;
  size_t most_ = 0;
  bench::Random random_{8};
  std::vector<bench::Block> blocks_;
};

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 3, "MEBIBYTES PHASES PAUSE");
  Heap heap(arguments.Number(1) << 20);
  bench::Timeline timeline;
  for (uint64_t phase = 0; phase < arguments.Number(2); phase++) {
    const uint32_t most = 64u << (2 * (phase % 7)), least = most / 4;
    heap.Grow(least, most);
    timeline.Note(heap.live());
    for (uint64_t paused = 0; paused < arguments.Number(3); paused += 5) {
      const timespec moment = {0, 5000000};
      nanosleep(&moment, nullptr);
      heap.Replace(least, most);
    }
    timeline.Note(heap.live());
    if (phase + 1 < arguments.Number(2)) heap.Thin();
  }
  timeline.End();
}
