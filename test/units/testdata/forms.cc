// Functions of which a compiler makes more than one piece of code, or whose names are more than words; forms_test.go says
// how often each is called. Compiled twice: as a library, which has all of it, and with -DPROGRAM as what calls that.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <string>

#define NOINLINE __attribute__((noinline))

extern void run();
static void* volatile sink;
static volatile int sum;

#ifdef PROGRAM

int main() {
  run();
  puts("done");
}

#else

namespace forms {

struct Base {
  NOINLINE explicit Base(int n) : memory(malloc(n)) { sum += n; }
  NOINLINE virtual ~Base() {
    free(memory);
    sum += 1;
  }
  NOINLINE virtual int visit(int n) { return sum += n; }
  void* memory;
};

struct Derived : Base {
  NOINLINE explicit Derived(int n) : Base(n) { sum += n + 1; }
  NOINLINE ~Derived() override { sum += 2; }
};

// What a virtual base is of is built by one form, and is a part of others by another one.
struct Shared : virtual Base {
  NOINLINE explicit Shared(int n) : Base(n) { sum += n + 2; }
  NOINLINE ~Shared() override { sum += 3; }
  NOINLINE int visit(int n) override { return sum -= n; }
  int padding = 0;
};

struct Last : Shared {
  NOINLINE explicit Last(int n) : Base(n), Shared(n) { sum += n + 3; }
  NOINLINE ~Last() override { sum += 4; }
};

struct Inheriting : Base {
  using Base::Base;
};

// Whose destructor calls that of another object, which may be known not to be overridden.
struct Chain final {
  explicit Chain(Chain* after) : next(after) { sum += 1; }
  NOINLINE virtual ~Chain() {
    delete next;
    sum += 5;
  }
  Chain* next;
};

// Not marked: where it is optimized, one form has the code of the other in it.
struct Open {
  explicit Open(int n) : number(n) { sum += n; }
  virtual ~Open() { sum -= number * other; }
  int number, other = 3;
};
Open* volatile opened;

struct Money {
  NOINLINE explicit operator bool() const { return (sum += 1) > cents; }
  NOINLINE int operator()(int n) const { return sum += n * cents; }
  NOINLINE int operator[](int n) const { return sum -= n * cents; }
  NOINLINE bool operator<(const Money& other) const { return (sum += cents) < other.cents; }
  int cents;
};

template <typename T>
NOINLINE T scaled(T value) {
  return value * 3 + sum;
}

NOINLINE std::string tagged(int n) { return std::string(n, 'x'); }

struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

NOINLINE Task resumed(int n) {
  for (int i = 0; i < n; i++) {
    sum += i;
    co_await std::suspend_always{};
  }
}

NOINLINE int original(int n) {
  sink = malloc(n);
  free(sink);
  return sum += n;
}
extern "C" NOINLINE int another(int n) __attribute__((alias("_ZN5forms8originalEi")));

template <typename Call>
NOINLINE int applied(Call call) {
  return call(2) + sum;
}

}  // namespace forms

void run() {
  using namespace forms;
  for (int i = 0; i < 3; i++) delete new Base(i + 1);
  for (int i = 0; i < 4; i++) delete static_cast<Base*>(new Derived(i + 1));
  for (int i = 0; i < 5; i++) {
    Derived local(i + 1);
  }
  for (int i = 0; i < 6; i++) {
    Base* shared = new Shared(i + 1);
    shared->visit(i);
    delete shared;
  }
  for (int i = 0; i < 7; i++) delete static_cast<Base*>(new Last(i + 1));
  for (int i = 0; i < 8; i++) {
    Last local(i + 1);
  }
  Chain* chain = nullptr;
  for (int i = 0; i < 10; i++) chain = new Chain(chain);
  delete chain;
  for (int i = 0; i < 11; i++) {
    opened = new Open(i);
    delete opened;
  }
  Inheriting inherited(3);
  Money one{1}, two{2};
  sum += one ? 1 : 2;
  for (int i = 0; i < 2; i++) sum += one(i);
  for (int i = 0; i < 3; i++) sum += one[i];
  for (int i = 0; i < 4; i++) sum += one < two;
  for (int i = 0; i < 5; i++) sum += scaled(i);
  for (int i = 0; i < 6; i++) sum += static_cast<int>(scaled(i + 0.5));
  for (int i = 0; i < 7; i++) sum += static_cast<int>(tagged(i + 20).size());
  for (int i = 0; i < 3; i++) {
    const Task task = resumed(4);
    for (int j = 0; j < 5; j++) task.handle.resume();
    task.handle.destroy();
  }
  for (int i = 0; i < 8; i++) sum += original(i + 1);
  for (int i = 0; i < 2; i++) sum += another(i + 1);
  for (int i = 0; i < 9; i++) {
    sum += applied([](int n) __attribute__((noinline)) {
      sink = malloc(n);
      free(sink);
      return sum += n;
    });
  }
}

#endif
