// Templates, lambdas, multiple inheritance, inlined calls over several levels
// and functions that the compiler splits into a hot and a cold part.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {

template <typename T, int N>
struct Ring {
  T items[N];
  int next = 0;
  T& Push(const T& item) {
    T& slot = items[next];
    slot = item;
    next = (next + 1) % N;
    return slot;
  }
};

struct Priced {
  virtual ~Priced() {}
  virtual long Price() const = 0;
};
struct Named {
  virtual ~Named() {}
  virtual std::string Name() const = 0;
};

class Book : public Priced, public Named {
 public:
  Book(std::string name, long price) : name_(std::move(name)), price_(price) {}
  long Price() const override { return price_; }
  std::string Name() const override { return name_; }

 private:
  std::string name_;
  long price_;
};

namespace {
__attribute__((noinline)) long Checked(long amount) {
  if (__builtin_expect(amount < 0, 0)) {
    std::string text = "negative: ";
    text += std::to_string(amount);
    throw std::out_of_range(text);
  }
  return amount * 3;
}
inline long Twice(long n) { return Checked(n) + Checked(n + 1); }
}  // namespace

static long Total(const std::vector<std::unique_ptr<Book>>& books) {
  long sum = 0;
  std::for_each(books.begin(), books.end(), [&sum](const std::unique_ptr<Book>& b) { sum += Twice(b->Price()); });
  return sum;
}

long Apart(const std::vector<int>& numbers) {
  long sum = 0;
  auto add = [&sum](int n) __attribute__((noinline)) {
    std::vector<int> copy(static_cast<size_t>(n), n);
    sum += static_cast<long>(copy.size());
  };
  for (int n : numbers) add(n);
  return sum;
}

std::map<std::string, std::vector<int>> Index(int n) {
  std::map<std::string, std::vector<int>> index;
  for (int i = 0; i < n; i++) index[std::to_string(i % 17)].push_back(i);
  return index;
}

}  // namespace shop

int main(int argc, char** argv) {
  std::vector<std::unique_ptr<shop::Book>> books;
  shop::Ring<std::string, 4> ring;
  for (int i = 0; i < argc * 10; i++) {
    books.push_back(std::make_unique<shop::Book>("book " + std::to_string(i), i));
    ring.Push(books.back()->Name());
  }
  std::function<long(int)> deep = [&](int n) -> long { return n <= 0 ? shop::Total(books) : deep(n - 1) + 1; };
  auto index = shop::Index(argc * 100);
  std::sort(books.begin(), books.end(), [](auto& a, auto& b) { return a->Price() > b->Price(); });
  try {
    return static_cast<int>((deep(argc) + static_cast<long>(index.size()) + shop::Apart(index["3"])) % 7);
  } catch (const std::out_of_range& e) {
    return static_cast<int>(e.what()[0]);
  }
}
