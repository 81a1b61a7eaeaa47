// Steps that texts go through, each a function object.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

using Step = std::function<std::string(const std::string&)>;

template <typename F>
static Step Each(F change) {
  return [change](const std::string& text) {
    std::string changed = text;
    std::transform(changed.begin(), changed.end(), changed.begin(), change);
    return changed;
  };
}

static std::string Run(const std::vector<Step>& steps, std::string text) {
  for (const Step& step : steps) {
    // + Step copy = [step, text](const std::string& t) { return step(t) + text; };
    text = step(text);
  }
  return text;
}

int main() {
  std::vector<Step> steps = {
      Each([](char c) { return static_cast<char>(std::toupper(c)); }),
      [](const std::string& text) { return "a title that is long enough for the heap: " + text; },
      Each([](char c) { return c == ' ' ? '_' : c; }),
  };
  size_t letters = 0;
  for (int i = 0; i < 200; i++)
    letters += Run(steps, "number " + std::to_string(i) + " of many texts").size();
  std::printf("%zu\n", letters);
}
