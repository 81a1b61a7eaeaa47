// Expressions, maps and strings, in one thread: what C++ programs do, and the same in every run.
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

#ifndef EXTRA
#define EXTRA 0
#endif

int main() {
  const std::regex word("([a-z]+)([0-9]*)");
  std::map<std::string, int> count;
  std::unordered_map<int, std::vector<std::string>> byLength;
  for (int i = 0; i < 300; i++) {
    const std::string text = "some words" + std::to_string(i) + " and others" + std::to_string(i * 7);
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
      ++count[at->str(1)];
      byLength[static_cast<int>(at->length())].push_back(at->str());
    }
  }
#if EXTRA
  char* extra = new char[24];
  asm volatile("" : : "r"(extra) : "memory");  // or the compiler leaves both calls out
  delete[] extra;
#endif
  std::cout << count.size() << ' ' << byLength.size() << '\n';
}
