// Values of three types that go through one door, and settings that are kept.
#include <any>
#include <cstdio>
#include <vector>

struct Point {
  double x, y;
};

struct Span {
  Point from, to;
};

[[gnu::noinline]] static double Length(const std::any& shape) {
  if (const auto* point = std::any_cast<Point>(&shape)) return point->x;
  if (const auto* span = std::any_cast<Span>(&shape)) return span->to.x - span->from.x;
  return std::any_cast<int>(shape);
}

int main() {
  std::vector<std::any> kept;
  for (int i = 0; i < 500; i++) kept.emplace_back(Point{1.0 * i, 2});
  double sum = 0;
  for (int i = 0; i < 20000; i++) {
    std::any shape = i % 3;                                    // has room
    if (i % 3 == 1) shape = Point{1.0 * i, 2};                 // planted: made-anew
    if (i % 3 == 2) shape = Span{{1.0 * i, 2}, {2.0 * i, 2}};  // planted: made-anew
    sum += Length(shape) + Length(kept[i % 500]);
  }
  std::printf("%.0f\n", sum);
}
