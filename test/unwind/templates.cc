// Something for a compiler to chew on; never run.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

std::map<std::string, std::variant<int, std::vector<std::string>>> g_values;
std::function<int(int)> g_function = [](int x) { return x + static_cast<int>(g_values.size()); };
