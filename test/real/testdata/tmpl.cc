// A template-heavy file: what the compiler allocates is what counts.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

template <int N>
struct Nest {
  std::map<int, std::vector<std::string>> groups;
  std::variant<int, std::string, double, Nest<N - 1>*> value;
  std::tuple<int, std::string, Nest<N - 1>> inner;

  int Sum() {
    groups[N].push_back(std::to_string(N));
    std::sort(groups[N].begin(), groups[N].end(), [](auto& a, auto& b) { return a.size() < b.size(); });
    std::unordered_map<std::string, std::function<int(int)>> calls;
    calls["a"] = [this](int x) { return x + static_cast<int>(groups.size()); };
    return std::visit([](auto&& v) -> int { return static_cast<int>(sizeof(v)); }, value) + std::get<2>(inner).Sum() +
           calls["a"](N);
  }
};

template <>
struct Nest<0> {
  int Sum() { return 0; }
};

int main() {
  Nest<3> nest;
  std::cout << nest.Sum() << "\n";
}
