// Words that are looked at by expressions: of functions, of an object, and one that is kept.
#include <cstdio>
#include <regex>
#include <string>

[[gnu::noinline]] static bool IsName(const std::string& word) {
  static const std::regex name("[a-z]+(-[a-z]+)*");
  return std::regex_match(word, name);
}

[[gnu::noinline]] static std::regex Make(const char* pattern) {
  return std::regex(pattern, std::regex::icase);
}

[[gnu::noinline]] static bool IsNumber(const std::string& word) {
  static const std::regex number = Make("[0-9]+");
  return std::regex_match(word, number);
}

[[gnu::noinline]] static bool IsHex(const std::string& word) {
  static const std::regex hex = Make("0x[0-9a-f]+");
  return std::regex_match(word, hex);
}

struct Filter {
  static inline const std::regex words{"\\w+\\d?"};
  bool Matches(const std::string& word) const { return std::regex_match(word, words); }
};

[[gnu::noinline]] static bool IsWord(const std::string& word) {
  const Filter filter;
  return filter.Matches(word);
}

[[gnu::noinline]] static bool IsKept(const std::string& word) {
  static const std::regex kept("[a-z]+b?c");
  return std::regex_match(word, kept);
}

int main() {
  const std::string words[] = {"some-name", "123", "0xff", "abc"};
  int sum = 0;
  for (int i = 0; i < 80; i++) {
    const auto& word = words[i % 4];
    sum += IsName(word) + 2 * IsNumber(word) + 4 * IsHex(word) + 8 * IsWord(word) + 16 * IsKept(word);
  }
  std::printf("%d\n", sum);
}
