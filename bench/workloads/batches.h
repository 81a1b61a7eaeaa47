// A bounded queue of batches of blocks between threads. Threads wait asleep: spinning would be measured as work.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "support.h"

namespace bench {

using Batch = std::array<Block, 256>;

class Batches {
 public:
  // At most `room` batches wait; the batches themselves are memory of the program and used over and over.
  explicit Batches(size_t room) : room_(room) {}
  Batches(const Batches&) = delete;
  ~Batches() {
    for (Batch* batch : spare_) delete batch;
  }

  // An empty batch to be filled.
  Batch* Empty() {
    std::lock_guard lock(mutex_);
    if (spare_.empty()) return new Batch;
    Batch* const batch = spare_.back();
    spare_.pop_back();
    return batch;
  }

  // Waits while the queue is full.
  void Put(Batch* full) {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return waiting_.size() < room_; });
    waiting_.push_back(full);
    put_.notify_one();
  }

  // Waits for a batch; null after Close, when none is left.
  Batch* Take() {
    std::unique_lock lock(mutex_);
    put_.wait(lock, [this] { return !waiting_.empty() || closed_; });
    if (waiting_.empty()) return nullptr;
    Batch* const batch = waiting_.front();
    waiting_.pop_front();
    // Half of the room at once: waking a thread for each batch would cost more than its blocks.
    if (waiting_.size() <= room_ / 2) taken_.notify_all();
    return batch;
  }

  void GiveBack(Batch* empty) {
    std::lock_guard lock(mutex_);
    spare_.push_back(empty);
  }

  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    put_.notify_all();
  }

 private:
  const size_t room_;
  std::mutex mutex_;
  std::condition_variable put_, taken_;
  std::deque<Batch*> waiting_;
  std::deque<Batch*> spare_;
  bool closed_ = false;
};

}  // namespace bench
