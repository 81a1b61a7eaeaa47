// A small language: writes random programs as text, parses them into trees, folds what is constant into new trees, runs
// both on lists that are built of cells, and writes the trees out as text again; PROGRAMS of them.
//
//	interpreter PROGRAMS
//
// Nodes, cells and strings of 16 to some hundred bytes in irregular order, freed tree by tree.
#include <ctype.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support.h"

namespace {

// number, variable, or (operation left right); `~` makes a list of two values and takes its sum.
struct Node {
  char operation;  // 0 for a number, `$` for a variable
  int64_t number = 0;
  std::string name;
  std::unique_ptr<Node> left, right;
};
using Tree = std::unique_ptr<Node>;
using Scope = std::map<std::string, int64_t, std::less<>>;

constexpr std::string_view kOperations = "+-*~";
constexpr int64_t kModulus = 1000003;

std::string Write(bench::Random& random, int depth) {
  const uint32_t draw = random.Below(8);
  if (depth == 0 || draw == 0)
    return draw % 2 == 0 ? std::to_string(random.Below(1000)) : "variable" + std::to_string(random.Below(12));
  std::string text = "(";
  text += kOperations[random.Below(kOperations.size())];
  text += " " + Write(random, depth - 1) + " " + Write(random, depth - 1) + ")";
  return text;
}

class Parser {
 public:
  explicit Parser(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
      size_t end = i + 1;
      if (isalnum(text[i]))
        while (end < text.size() && isalnum(text[end])) end++;
      if (text[i] != ' ') tokens_.emplace_back(text.substr(i, end - i));
      i = end;
    }
  }

  Tree Parse() {
    const std::string& token = tokens_[next_++];
    if (token != "(") {
      if (isdigit(token[0])) return Tree(new Node{0, std::stoll(token), {}, {}, {}});
      return Tree(new Node{'$', 0, token, {}, {}});
    }
    Tree node(new Node{tokens_[next_++][0], 0, {}, {}, {}});
    node->left = Parse();
    node->right = Parse();
    next_++;  // the bracket
    return node;
  }

 private:
  std::vector<std::string> tokens_;
  size_t next_ = 0;
};

struct Cell {
  int64_t value;
  std::shared_ptr<Cell> next;
};

int64_t SumOfList(int64_t first, int64_t second) {
  std::shared_ptr<Cell> list;
  for (int64_t i = 0; i < 4; i++) list = std::make_shared<Cell>(Cell{i % 2 == 0 ? first : second, list});
  int64_t sum = 0;
  for (const Cell* cell = list.get(); cell != nullptr; cell = cell->next.get()) sum += cell->value;
  return sum % kModulus;
}

int64_t Apply(char operation, int64_t a, int64_t b) {
  switch (operation) {
    case '+':
      return (a + b) % kModulus;
    case '-':
      return (a - b) % kModulus;
    case '*':
      return a * b % kModulus;
    default:
      return SumOfList(a, b);
  }
}

int64_t Evaluate(const Node& node, const Scope& scope) {
  if (node.operation == 0) return node.number;
  if (node.operation == '$') return scope.find(node.name)->second;
  return Apply(node.operation, Evaluate(*node.left, scope), Evaluate(*node.right, scope));
}

Tree Fold(const Node& node) {
  if (node.left == nullptr) return Tree(new Node{node.operation, node.number, node.name, {}, {}});
  Tree left = Fold(*node.left), right = Fold(*node.right);
  if (left->operation == 0 && right->operation == 0)
    return Tree(new Node{0, Apply(node.operation, left->number, right->number), {}, {}, {}});
  return Tree(new Node{node.operation, 0, {}, std::move(left), std::move(right)});
}

std::string Text(const Node& node) {
  if (node.operation == 0) return std::to_string(node.number);
  if (node.operation == '$') return node.name;
  return "(" + std::string(1, node.operation) + " " + Text(*node.left) + " " + Text(*node.right) + ")";
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 1, "PROGRAMS");
  bench::Random random(16);
  Scope scope;
  for (int i = 0; i < 12; i++) scope["variable" + std::to_string(i)] = i * i - 20;
  for (uint64_t i = arguments.Number(1); i > 0; i--) {
    const std::string text = Write(random, 10);
    const Tree tree = Parser(text).Parse();
    if (Text(*tree) != text) bench::Fail("a program changed on its way");
    const Tree folded = Fold(*tree);
    if (Evaluate(*tree, scope) != Evaluate(*folded, scope)) bench::Fail("folding changed a result");
  }
}
