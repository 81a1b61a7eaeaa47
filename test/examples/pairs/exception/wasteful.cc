// Words of which half are numbers.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

class BadWord : public std::runtime_error {
 public:
  explicit BadWord(const char* what) : std::runtime_error(what) {}
};

[[gnu::noinline]] static int Digit(const std::string& word) {
  if (word.size() > 1) throw BadWord("a digit that is no digit");  // planted: made-anew
  return word[0] - '0';
}

[[gnu::noinline]] static int Number(const std::string& word) {
  return std::stoi(word);  // planted: made-anew
}

int main() {
  const std::vector<std::string> words{"7", "seven", "12", "x"};
  long sum = 0;
  for (int i = 0; i < 8000; i++) {
    const auto& word = words[i % 4];
    try {
      sum += Digit(word);
    } catch (const BadWord& e) {
      sum += e.what()[2];
    }
    try {
      sum += Number(word);
    } catch (const std::invalid_argument&) {
      sum--;
    }
  }
  std::printf("%ld\n", sum);
}
