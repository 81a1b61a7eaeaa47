// A template-heavy file for the compiler.
#include <algorithm>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <regex>
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
    return std::visit([](auto&& v) -> int { return static_cast<int>(sizeof(v)); }, value) +
           std::get<2>(inner).Sum() + calls["a"](N);
  }
};

template <>
struct Nest<0> {
  int Sum() { return 0; }
};

int main() {
  Nest<6> nest;
  std::regex pattern("a(b|c)*d");
  std::cout << nest.Sum() << std::regex_match("abcd", pattern) << "\n";
  auto later = std::async([] { return 1; });
  return later.get();
}
