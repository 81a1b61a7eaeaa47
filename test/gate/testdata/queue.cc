// A queue of work for four threads: how often its blocks of memory move from one to another depends on who is first.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#ifndef EXTRA
#define EXTRA 0
#endif

struct Queue {
  std::mutex lock;
  std::condition_variable filled;
  std::deque<std::unique_ptr<std::string>> waiting;
  bool closed = false;
};

static void produce(Queue& queue, int count) {
  for (int i = 0; i < count; i++) {
    auto item = std::make_unique<std::string>(40 + i % 100, 'x');
    std::lock_guard guard(queue.lock);
    queue.waiting.push_back(std::move(item));
    queue.filled.notify_one();
  }
}

static std::atomic<unsigned long> total;

static void consume(Queue& queue) {
  std::vector<char> scratch;
  for (unsigned handled = 0;; handled++) {
    std::unique_ptr<std::string> item;
    {
      std::unique_lock guard(queue.lock);
      queue.filled.wait(guard, [&] { return queue.closed || !queue.waiting.empty(); });
      if (queue.waiting.empty()) return;
      item = std::move(queue.waiting.front());
      queue.waiting.pop_front();
    }
    if (scratch.size() < item->size()) scratch.assign(item->begin(), item->end());
    total += item->size();
#if EXTRA
    if (handled % (100 / EXTRA) == 0) {
      char* more = new char[handled % 7 + 1];
      asm volatile("" : : "r"(more) : "memory");  // or the compiler leaves both calls out
      delete[] more;
    }
#endif
  }
}

int main() {
  Queue queue;
  std::vector<std::thread> consumers;
  for (int i = 0; i < 3; i++) consumers.emplace_back(consume, std::ref(queue));
  produce(queue, 10000);
  {
    std::lock_guard guard(queue.lock);
    queue.closed = true;
  }
  queue.filled.notify_all();
  for (auto& consumer : consumers) consumer.join();
  return total == 0;
}
