// Sums of parts that two threads add up, and many threads that wait for one signal.
#include <atomic>
#include <condition_variable>
#include <cstdio>
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

// Two threads that are given work by its number: what is to be done, and what is done.
class Pool {
 public:
  Pool(const std::vector<int>& left, const std::vector<int>& right, std::atomic<long>* sum)
      : left_([this, &left, sum] { Work(left, sum); }), right_([this, &right, sum] { Work(right, sum); }) {}

  ~Pool() {
    Set(-1);
    left_.join();
    right_.join();
  }

  void Do() {
    Set(round_ + 1);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return left_to_do_ == 0; });
  }

 private:
  void Set(int round) {
    std::lock_guard lock(mutex_);
    round_ = round;
    left_to_do_ = 2;
    todo_.notify_all();
  }

  void Work(const std::vector<int>& part, std::atomic<long>* sum) {
    for (int seen = 0;;) {
      {
        std::unique_lock lock(mutex_);
        todo_.wait(lock, [&] { return round_ != seen; });
        seen = round_;
      }
      if (seen < 0) return;
      for (int n : part) *sum += n;
      std::lock_guard lock(mutex_);
      if (--left_to_do_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable todo_, done_;
  int round_ = 0, left_to_do_ = 0;
  std::thread left_, right_;
};

int main() {
  std::atomic<long> sum{0};
  std::vector<std::thread> waiting;
  waiting.reserve(150);
  for (int i = 0; i < 150; i++) waiting.emplace_back(Wait, &sum);
  const std::vector<int> left(20, 3), right(20, 4);
  {
    Pool pool(left, right, &sum);
    for (int i = 0; i < 1000; i++) pool.Do();
  }
  {
    std::lock_guard lock(mutex);
    go = true;
  }
  changed.notify_all();
  for (auto& thread : waiting) thread.join();
  std::printf("%ld\n", sum.load());
}
