// Containers that are made in each round: those that keep their memory when they are cleared, and those that do not.
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <valarray>
#include <vector>

static std::vector<std::unique_ptr<int>> recent(50);

// Something that allocates, so that nothing is freed before anything else is allocated.
[[gnu::noinline]] static int Remember(int i) {
  auto& slot = recent[i % 50];
  slot = std::make_unique<int>(i);
  return *slot;
}

[[gnu::noinline]] static int Vector(int i) {
  std::vector<int> all(10 + i % 3, i);  // planted: hoist
  return Remember(i) + all[3];
}

[[gnu::noinline]] static int String(int i) {
  std::string all(40 + i % 7, 'x');  // planted: hoist
  return Remember(i) + all[5];
}

[[gnu::noinline]] static int Text(int i) {
  std::string all(40 + i % 7, 'x');  // planted: temporary
  return all[i % 40];
}

[[gnu::noinline]] static int Map(int i) {
  std::map<int, int> all;
  all[i] = i;
  return Remember(i) + all[i];
}

[[gnu::noinline]] static int List(int i) {
  std::list<int> all;
  all.push_back(i);
  return all.front();
}

[[gnu::noinline]] static int Array(int i) {
  std::valarray<int> all(i, 20 + i % 3);
  return Remember(i) + all[4];
}

// Releases what its caller made.
[[gnu::noinline]] static int Take(std::string&& text) {
  std::string mine = std::move(text);
  return mine[7];
}

[[gnu::noinline]] static int Give(int i) {
  std::string all(40 + i % 7, 'y');
  return Take(std::move(all));
}

int main() {
  long sum = 0;
  for (int i = 0; i < 3000; i++) {
    sum += Vector(i) + String(i) + Text(i) + Map(i) + List(i) + Array(i) + Give(i);
  }
  std::printf("%ld\n", sum);
}
