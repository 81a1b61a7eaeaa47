// A heap of MEBIBYTES of which the first nine tenths are freed in the order in which they were allocated. Then the
// program is all but idle: one malloc every 10 ms, for SECONDS.
//
//	nine_tenths MEBIBYTES SECONDS mixed|same
//
// mixed: 16 bytes to 4 KiB, every doubling equally frequent. same: 256 bytes.
// The blocks hold their own list, so nothing else is alive. `rss_over_live` is the end's.
#include <time.h>

#include "timeline.h"

namespace {

// At the beginning of every block.
struct Head {
  Head* next;
  uint32_t bytes;
  uint32_t check;
};

class Queue {
 public:
  explicit Queue(bool mixed) : mixed_(mixed) {}

  void Add() {
    const uint32_t bytes = mixed_ ? random_.Size(16, 4096) : 256;
    Head* const block = static_cast<Head*>(bench::Allocate(bytes));
    memset(block, 1, bytes);
    *block = {nullptr, bytes, Check(block, bytes)};
    *end_ = block;
    end_ = &block->next;
    live_ += bytes;
  }

  void DropFirst() {
    Head* const block = first_;
    if (block->check != Check(block, block->bytes)) bench::Fail("a block was changed by somebody else");
    first_ = block->next;
    if (first_ == nullptr) end_ = &first_;
    live_ -= block->bytes;
    free(block);
  }

  uint64_t live() const { return live_; }

 private:
  static uint32_t Check(const Head* block, uint32_t bytes) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(block) >> 4) ^ bytes;
  }

  const bool mixed_;
  bench::Random random_{13};
  Head* first_ = nullptr;
  Head** end_ = &first_;
  uint64_t live_ = 0;
};

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 3, "MEBIBYTES SECONDS mixed|same");
  const uint64_t whole = arguments.Number(1) << 20;
  Queue queue(arguments.Chosen(3, "mixed", "same"));
  bench::Timeline timeline;
  while (queue.live() < whole) queue.Add();
  timeline.Note(queue.live());
  while (queue.live() > whole / 10) queue.DropFirst();
  timeline.Note(queue.live());
  for (uint64_t i = 1; i <= arguments.Number(2) * 100; i++) {
    const timespec moment = {0, 10000000};
    nanosleep(&moment, nullptr);
    queue.Add();
    if (i % 50 == 0) timeline.Note(queue.live());
  }
  timeline.End();
  while (queue.live() > 0) queue.DropFirst();
}
