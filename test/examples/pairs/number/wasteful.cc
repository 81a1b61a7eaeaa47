// Lines of large and small numbers, and the names of some that are kept.
#include <cstdio>
#include <string>
#include <vector>

[[gnu::noinline]] static unsigned Hash(const std::string& text) {
  unsigned hash = 7;
  for (char c : text) hash = 31 * hash + static_cast<unsigned char>(c);
  return hash;
}

int main() {
  unsigned sum = 0;
  std::vector<std::string> names;
  for (long i = 0; i < 8000; i++) {
    sum += Hash(std::to_string(1000000000000000000 + i));  // planted: made-anew
    sum += Hash(std::to_string(i));                        // has room
    if (i % 16 == 0) names.push_back(std::to_string(-1000000000000000000 + i));
  }
  for (const auto& name : names) sum += Hash(name);
  std::printf("%u\n", sum);
}
