// Shortest ways in a grid.
#include <cstdio>
#include <queue>
#include <utility>
#include <vector>

using Edge = std::pair<int, int>;  // to, length

static std::vector<std::vector<Edge>> Grid(int side) {
  std::vector<std::vector<Edge>> grid(side * side);
  for (int i = 0; i < side * side; i++) {
    if (i % side + 1 < side) grid[i].emplace_back(i + 1, i % 7 + 1);
    if (i + side < side * side) grid[i].emplace_back(i + side, i % 5 + 1);
  }
  return grid;
}

static int Shortest(const std::vector<std::vector<Edge>>& grid, int from, int to) {
  std::vector<int> distance(grid.size(), 1 << 30);
  std::priority_queue<Edge, std::vector<Edge>, std::greater<Edge>> open;
  open.emplace(distance[from] = 0, from);
  while (!open.empty()) {
    auto [length, at] = open.top();
    open.pop();
    if (at == to) return length;
    // + std::vector<Edge> copy(grid[at]);
    for (auto [next, step] : grid[at]) {
      if (length + step < distance[next]) open.emplace(distance[next] = length + step, next);
    }
  }
  return -1;
}

int main() {
  auto grid = Grid(20);
  int sum = 0;
  for (int i = 0; i < 10; i++) sum += Shortest(grid, i, 399 - i);
  std::printf("%d\n", sum);
}
