// Coroutines that are called again and again: a generator, and a task that waits for others.
#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

// Keeps released frames for the next ones of their size.
class Frames {
 public:
  static void* Take(std::size_t bytes) {
    auto& all = Of(bytes);
    if (all.empty()) return ::operator new(bytes);
    void* frame = all.back();
    all.pop_back();
    return frame;
  }
  static void Keep(void* frame, std::size_t bytes) { Of(bytes).push_back(frame); }

 private:
  static std::vector<void*>& Of(std::size_t bytes) {
    static std::vector<void*> all[64];
    return all[bytes / 16];
  }
};

struct FromFrames {
  static void* operator new(std::size_t bytes) { return Frames::Take(bytes); }
  static void operator delete(void* frame, std::size_t bytes) { Frames::Keep(frame, bytes); }
};

template <class Promise>
class Owner {
 public:
  explicit Owner(Promise& promise) : handle_(std::coroutine_handle<Promise>::from_promise(promise)) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner&&) = delete;
  ~Owner() {
    if (handle_) handle_.destroy();
  }
  std::coroutine_handle<Promise> handle() const { return handle_; }

 private:
  std::coroutine_handle<Promise> handle_;
};

struct Generator {
  struct promise_type : FromFrames {
    int value = 0;
    Generator get_return_object() { return {Owner<promise_type>(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  Owner<promise_type> owner;
  bool Next() {
    owner.handle().resume();
    return !owner.handle().done();
  }
  int Value() const { return owner.handle().promise().value; }
};

struct Task {
  struct promise_type : FromFrames {
    int value = 0;
    std::coroutine_handle<> waiter = std::noop_coroutine();
    Task get_return_object() { return {Owner<promise_type>(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        return h.promise().waiter;
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(int v) { value = v; }
    void unhandled_exception() { std::terminate(); }
  };
  Owner<promise_type> owner;
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
    owner.handle().promise().waiter = h;
    return owner.handle();
  }
  int await_resume() { return owner.handle().promise().value; }
};

static std::vector<std::unique_ptr<int>> recent(50);

// Many of these live at a time.
static Generator CountKept(int n) {
  for (int i = 0; i < n; i++) co_yield i;
}

static Generator Count(int n) {
  for (int i = 0; i < n; i++) co_yield i;
}

static Task Leaf(int x) {
  auto& slot = recent[x % 50];
  slot = std::make_unique<int>(x);
  co_return *slot + 1;
}

static Task Sum(int x) { co_return co_await Leaf(x) + co_await Leaf(x + 1); }

int main() {
  std::vector<Generator> kept;
  for (int i = 0; i < 600; i++) kept.push_back(CountKept(i));
  long sum = 0;
  for (int i = 0; i < 3000; i++) {
    auto numbers = Count(5);
    while (numbers.Next()) sum += numbers.Value();
    Task task = Sum(i);
    task.owner.handle().resume();
    sum += task.await_resume();
  }
  for (auto& one : kept) sum += one.Next();
  std::printf("%ld\n", sum);
}
