// Small questions to a thread that answers, each with a promise of its own.
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

struct Question {
  int number;
  std::promise<long> answer;
};

static std::mutex mutex;
static std::condition_variable changed;
static std::vector<Question> asked;
static bool done;

static void Answer() {
  std::vector<Question> mine;
  mine.reserve(16);
  std::unique_lock lock(mutex);
  while (!done || !asked.empty()) {
    changed.wait(lock, [] { return done || !asked.empty(); });
    mine.swap(asked);
    lock.unlock();
    for (auto& question : mine) question.answer.set_value(3L * question.number);
    mine.clear();
    lock.lock();
  }
}

int main() {
  asked.reserve(16);
  std::thread thread(Answer);
  long sum = 0;
  for (int i = 0; i < 4000; i++) {
    std::promise<long> answer;  // planted: made-anew
    std::future<long> result = answer.get_future();
    {
      std::lock_guard lock(mutex);
      asked.push_back({i, std::move(answer)});
    }
    changed.notify_one();
    sum += result.get();
    auto later = std::async(std::launch::deferred, [i] { return 2L * i; });  // planted: made-anew
    sum += later.get();
  }
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_one();
  thread.join();
  std::printf("%ld\n", sum);
}
