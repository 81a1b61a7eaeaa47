// What is allocated within containers by the objects in them: with this library of C++ a std::any has no room for a string.
#include <any>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

static const std::string text = "longer than what a string has room for";

int main() {
  std::vector<std::any> anys;
  for (int i = 0; i < 100; i++) anys.emplace_back(text);
  std::list<std::unique_ptr<std::string>> list;
  for (int i = 0; i < 30; i++) list.push_back(std::make_unique<std::string>(text));
  std::map<int, std::shared_ptr<std::string>> map;
  for (int i = 0; i < 20; i++) map[i] = std::make_shared<std::string>(text);
  std::vector<std::promise<int>> promises;
  for (int i = 0; i < 50; i++) promises.emplace_back();
  return 0;
}
