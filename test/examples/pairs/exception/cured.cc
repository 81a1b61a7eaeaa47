// Words of which half are numbers.
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

[[gnu::noinline]] static std::optional<int> Digit(const std::string& word) {
  if (word.size() > 1) return {};
  return word[0] - '0';
}

[[gnu::noinline]] static std::optional<int> Number(const std::string& word) {
  int number;
  if (std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc()) return {};
  return number;
}

int main() {
  const std::vector<std::string> words{"7", "seven", "12", "x"};
  long sum = 0;
  for (int i = 0; i < 8000; i++) {
    const auto& word = words[i % 4];
    sum += Digit(word).value_or('d');
    sum += Number(word).value_or(-1);
  }
  std::printf("%ld\n", sum);
}
