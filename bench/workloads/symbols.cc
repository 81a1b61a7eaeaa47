// A part of a program with much debug information: templates over types of its own, inlined many deep. The names of
// each part differ: compile it with -DUNIT=name -DNUMBER=multiple of ten, and with -DMAIN once.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace UNIT {

template <int N>
struct Key {
  std::string name;
  int weight;
  bool operator<(const Key& o) const { return std::tie(weight, name) < std::tie(o.weight, o.name); }
};

template <int N>
struct Leaf {
  std::vector<Key<N>> keys;
};
template <int N>
struct Node {
  std::map<Key<N>, std::variant<Leaf<N>, std::shared_ptr<Node>, std::string, double>> children;
  std::unordered_map<std::string, std::optional<Key<N>>> index;
  std::set<Key<N>> order;
};

namespace {
template <int N>
int weigh(const Node<N>& node) {
  int sum = 0;
  for (const auto& [key, child] : node.children)
    sum += key.weight + std::visit(
                            [](const auto& c) -> int {
                              using T = std::decay_t<decltype(c)>;
                              if constexpr (std::is_same_v<T, Leaf<N>>)
                                return std::accumulate(c.keys.begin(), c.keys.end(), 0,
                                                       [](int a, const Key<N>& k) { return a + k.weight; });
                              else if constexpr (std::is_same_v<T, std::shared_ptr<Node<N>>>)
                                return c ? weigh(*c) : 0;
                              else if constexpr (std::is_same_v<T, std::string>)
                                return int(c.size());
                              else
                                return int(c);
                            },
                            child);
  return sum;
}
}  // namespace

template <int N>
int work(int n) {
  std::mt19937 random(N);
  Node<N> node;
  std::vector<Key<N>> all;
  for (int i = 0; i < n; i++) {
    std::ostringstream text;
    text << "key " << i << ' ' << random();
    Key<N> key{text.str(), int(random() % 100)};
    all.push_back(key);
    node.order.insert(key);
    node.index[key.name] = key;
    if (i % 3 == 0)
      node.children[key] = Leaf<N>{all};
    else if (i % 3 == 1)
      node.children[key] = std::make_shared<Node<N>>(node);
    else
      node.children[key] = key.name;
  }
  std::sort(all.begin(), all.end());
  std::stable_sort(all.begin(), all.end(), [](const Key<N>& a, const Key<N>& b) { return a.name < b.name; });
  std::function<int(int)> twice = [&](int x) { return x * 2 + int(all.size()); };
  std::regex words("([a-z]+) ([0-9]+)|" + std::to_string(N));
  std::smatch match;
  for (auto& key : all)
    if (std::regex_search(key.name, match, words)) key.weight += int(match[1].length());
  return weigh(node) + twice(n) +
         std::accumulate(all.begin(), all.end(), 0, [](int a, auto& k) { return a + k.weight; });
}

int run(int n) { return work<NUMBER>(n) + work<NUMBER + 1>(n) + work<NUMBER + 2>(n) + work<NUMBER + 3>(n); }

}  // namespace UNIT

#ifdef MAIN
int main(int count, char**) { return UNIT::run(9 * count) == 0; }
#endif
