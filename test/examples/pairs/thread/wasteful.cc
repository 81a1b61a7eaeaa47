// Sums of parts that two threads add up, and many threads that wait for one signal.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable changed;
static bool go;

static void Wait(std::atomic<long>* sum) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return go; });
  ++*sum;
}

static void Add(const std::vector<int>& part, std::atomic<long>* sum) {
  for (int n : part) *sum += n;
}

int main() {
  std::atomic<long> sum{0};
  std::vector<std::thread> waiting;
  waiting.reserve(150);
  for (int i = 0; i < 150; i++) waiting.emplace_back(Wait, &sum);
  const std::vector<int> left(20, 3), right(20, 4);
  for (int i = 0; i < 1000; i++) {
    std::thread first(Add, std::cref(left), &sum);    // planted: made-anew
    std::thread second(Add, std::cref(right), &sum);  // planted: made-anew
    first.join();
    second.join();
  }
  {
    std::lock_guard lock(mutex);
    go = true;
  }
  changed.notify_all();
  for (auto& thread : waiting) thread.join();
  std::printf("%ld\n", sum.load());
}
