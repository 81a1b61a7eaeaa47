// Three threads in a row, each with a queue before it: one reads blocks of samples, one filters them, one sums them up.
// In the manner of a recorder of measurements; the samples are made by the program itself.
//
//   c++ -std=c++17 -O2 -g -pthread -o pipeline pipeline.cc && mallow ./pipeline
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kBlocks = 20000;
constexpr size_t kSamples = 512;
constexpr size_t kLongestQueue = 64;

// --- queues ---------------------------------------------------------------------------------------------------

// A queue in a ring that is as long as it ever gets.
template <typename Item>
class Queue {
 public:
  explicit Queue(size_t longest = kLongestQueue) : ring_(longest) {}

  // Waits while the queue is full.
  void Put(Item item) {
    std::unique_lock<std::mutex> lock(mutex_);
    room_.wait(lock, [this] { return size_ < ring_.size(); });
    ring_[(first_ + size_++) % ring_.size()] = std::move(item);
    filled_.notify_one();
  }

  // Waits while the queue is empty.
  Item Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait(lock, [this] { return size_ > 0; });
    return TakeFirst();
  }

  // False if the queue is empty.
  bool TryTake(Item* item) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (size_ == 0) return false;
    *item = TakeFirst();
    return true;
  }

 private:
  Item TakeFirst() {
    Item item = std::move(ring_[first_]);
    first_ = (first_ + 1) % ring_.size();
    size_--;
    room_.notify_one();
    return item;
  }

  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable room_;
  std::vector<Item> ring_;
  size_t first_ = 0;
  size_t size_ = 0;
};

// --- blocks ---------------------------------------------------------------------------------------------------

struct Block {
  int number = 0;
  int channel = 0;
  std::array<int16_t, kSamples> samples;
};

using BlockPointer = std::unique_ptr<Block>;

// What the second thread does with a block; one without ends it.
struct Job {
  BlockPointer block;
  int gain = 0;
  int floor = 0;
};

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
      BlockPointer block = Spare();
      block->number = i;
      block->channel = i % 4;
      for (int16_t& sample : block->samples) {
        state = state * 1664525u + 1013904223u;
        sample = static_cast<int16_t>(state >> 16);
      }
      const int gain = 1 + i % 3;
      const int floor = 100 * (i % 5);
      jobs_.Put({std::move(block), gain, floor});
    }
    jobs_.Put({});
  }

  // A block that the third thread has done with, or a new one.
  BlockPointer Spare() {
    BlockPointer block;
    return spare_.TryTake(&block) ? std::move(block) : std::make_unique<Block>();
  }

  // The second thread.
  void Work() {
    for (;;) {
      Job job = jobs_.Take();
      if (job.block == nullptr) break;
      Filter(std::move(job.block), job.gain, job.floor);
    }
    done_.Put(nullptr);
  }

  void Filter(BlockPointer block, int gain, int floor) {
    int before = 0;
    for (int16_t& sample : block->samples) {
      const int smooth = (before + sample) / 2;
      before = sample;
      sample = static_cast<int16_t>(smooth > floor || smooth < -floor ? smooth / 4 * gain : 0);
    }
    done_.Put(std::move(block));
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
      spare_.Put(std::move(block));
    }
    return s;
  }

  Queue<Job> jobs_;
  Queue<BlockPointer> done_;
  Queue<BlockPointer> spare_{3 * kLongestQueue};  // as many as the other queues and threads ever hold
};

}  // namespace

int main() {
  Pipeline pipeline;
  const Statistics s = pipeline.Run();
  printf("%ld blocks, %ld loud, sum %lld, checksum %08x\n", s.blocks, s.loud, static_cast<long long>(s.sum),
         s.checksum);
  return 0;
}
