// Shapes of several kinds behind one interface.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual double Area() const = 0;
};

struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double Area() const override { return side * side; }
  double side;
};

struct Circle : Shape {
  explicit Circle(double radius) : radius(radius) {}
  double Area() const override {
    // + std::string name = "a circle of the radius " + std::to_string(radius);
    return 3.14 * radius * radius;
  }
  double radius;
};

static double Draw(int count) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < count; i++) {
    if (i % 3 == 0) {
      shapes.push_back(std::make_unique<Circle>(i));
    } else {
      shapes.push_back(std::make_unique<Square>(i));
    }
  }
  double sum = 0;
  for (const auto& shape : shapes) sum += shape->Area();
  return sum;
}

int main() { std::printf("%.0f\n", Draw(600)); }
