// Three threads in a row, each with a queue before it: one reads blocks of samples, one filters them, one sums them up.
// In the manner of a recorder of measurements; the samples are made by the program itself.
//
//   c++ -std=c++17 -O2 -g -pthread -o pipeline pipeline.cc && mallow ./pipeline
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace {

constexpr int kBlocks = 20000;
constexpr size_t kSamples = 512;
constexpr size_t kLongestQueue = 64;

// --- queues ---------------------------------------------------------------------------------------------------

template <typename Item>
class Queue {
 public:
  // Waits while the queue is full.
  void Put(Item item) {
    std::unique_lock<std::mutex> lock(mutex_);
    room_.wait(lock, [this] { return items_.size() < kLongestQueue; });
    items_.push_back(std::move(item));
    filled_.notify_one();
  }

  // Waits while the queue is empty.
  Item Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait(lock, [this] { return !items_.empty(); });
    Item item = std::move(items_.front());
    items_.pop_front();
    room_.notify_one();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable room_;
  std::deque<Item> items_;
};

// --- blocks ---------------------------------------------------------------------------------------------------

struct Block {
  int number = 0;
  int channel = 0;
  std::array<int16_t, kSamples> samples;
};

using BlockPointer = std::shared_ptr<Block>;

// What the second thread does with a block; an empty one ends it.
using Job = std::function<void()>;

struct Statistics {
  long blocks = 0;
  long loud = 0;
  int64_t sum = 0;
  uint32_t checksum = 0;
};

class Pipeline {
 public:
  Statistics Run() {
    std::thread reader([this] { Read(); });
    std::thread worker([this] { Work(); });
    Statistics statistics = SumUp();
    reader.join();
    worker.join();
    return statistics;
  }

 private:
  // The first thread: fills blocks and says what is to be done with them.
  void Read() {
    uint32_t state = 31;
    for (int i = 0; i < kBlocks; i++) {
      Block* filled = new Block;  // planted: foreign-free
      filled->number = i;
      filled->channel = i % 4;
      for (int16_t& sample : filled->samples) {
        state = state * 1664525u + 1013904223u;
        sample = static_cast<int16_t>(state >> 16);
      }
      BlockPointer block(filled);  // planted: shared-ptr
      const int gain = 1 + i % 3;
      const int floor = 100 * (i % 5);
      jobs_.Put([this, block, gain, floor] { Filter(block, gain, floor); });  // planted: std-function
    }
    jobs_.Put(Job());
  }

  // The second thread.
  void Work() {
    while (Job job = jobs_.Take()) job();
    done_.Put(nullptr);
  }

  void Filter(const BlockPointer& block, int gain, int floor) {
    int before = 0;
    for (int16_t& sample : block->samples) {
      const int smooth = (before + sample) / 2;
      before = sample;
      sample = static_cast<int16_t>(smooth > floor || smooth < -floor ? smooth / 4 * gain : 0);
    }
    done_.Put(block);
  }

  // The third thread.
  Statistics SumUp() {
    Statistics s;
    while (BlockPointer block = done_.Take()) {
      int peak = 0;
      for (int16_t sample : block->samples) {
        s.sum += sample;
        s.checksum = s.checksum * 31 + static_cast<uint16_t>(sample);
        if (sample > peak) peak = sample;
      }
      s.blocks++;
      s.loud += peak > 20000;
    }
    return s;
  }

  Queue<Job> jobs_;
  Queue<BlockPointer> done_;
};

}  // namespace

int main() {
  Pipeline pipeline;
  const Statistics s = pipeline.Run();
  printf("%ld blocks, %ld loud, sum %lld, checksum %08x\n", s.blocks, s.loud, static_cast<long long>(s.sum),
         s.checksum);
  return 0;
}
