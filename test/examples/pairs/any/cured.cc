// Values of three types that go through one door, and settings that are kept.
#include <any>
#include <cstdio>
#include <variant>
#include <vector>

struct Point {
  double x, y;
};

struct Span {
  Point from, to;
};

using Shape = std::variant<int, Point, Span>;

[[gnu::noinline]] static double Length(const Shape& shape) {
  if (const auto* point = std::get_if<Point>(&shape)) return point->x;
  if (const auto* span = std::get_if<Span>(&shape)) return span->to.x - span->from.x;
  return std::get<int>(shape);
}

int main() {
  std::vector<std::any> kept;
  for (int i = 0; i < 500; i++) kept.emplace_back(Point{1.0 * i, 2});
  double sum = 0;
  for (int i = 0; i < 20000; i++) {
    Shape shape = i % 3;
    if (i % 3 == 1) shape = Point{1.0 * i, 2};
    if (i % 3 == 2) shape = Span{{1.0 * i, 2}, {2.0 * i, 2}};
    sum += Length(shape) + Length(std::any_cast<Point&>(kept[i % 500]));
  }
  std::printf("%.0f\n", sum);
}
