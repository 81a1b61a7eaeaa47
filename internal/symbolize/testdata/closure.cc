// A closure that is copied with what it captures.
#include <functional>
#include <string>
volatile unsigned long sink;
int main(int argc, char** argv) {
  std::string text(argc + 40, 'x');
  std::function<void(int)> first = [text](int n) { sink = text.size() + n; };
  std::function<void(int)> second = first;
  second(argc);
}
