// Small questions to a thread that answers, in a place that the asker holds.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Question {
  int number;
  long answer;
  bool answered;
};

static std::mutex mutex;
static std::condition_variable changed, answered;
static std::vector<Question*> asked;
static bool done;

static void Answer() {
  std::vector<Question*> mine;
  mine.reserve(16);
  std::unique_lock lock(mutex);
  while (!done || !asked.empty()) {
    changed.wait(lock, [] { return done || !asked.empty(); });
    mine.swap(asked);
    for (auto* question : mine) {
      question->answer = 3L * question->number;
      question->answered = true;
    }
    answered.notify_all();
    mine.clear();
  }
}

int main() {
  asked.reserve(16);
  std::thread thread(Answer);
  long sum = 0;
  for (int i = 0; i < 4000; i++) {
    Question question{i, 0, false};
    std::unique_lock lock(mutex);
    asked.push_back(&question);
    changed.notify_one();
    answered.wait(lock, [&] { return question.answered; });
    sum += question.answer;
    sum += [i] { return 2L * i; }();
  }
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_one();
  thread.join();
  std::printf("%ld\n", sum);
}
