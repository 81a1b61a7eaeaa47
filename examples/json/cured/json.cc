// Reads JSON documents into trees, asks them a few questions and drops them, in the manner of a service that gets one
// with every request. The documents are made by the program itself.
//
//   c++ -std=c++17 -O2 -g -o json json.cc && mallow ./json
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kDocuments = 60;
constexpr int kOrders = 60;

// --- documents ------------------------------------------------------------------------------------------------

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed) {}
  uint32_t Below(uint32_t limit) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % limit;
  }

 private:
  uint32_t state_;
};

std::string MakeDocument(uint32_t seed) {
  Random random(seed);
  std::string out;
  out.reserve(64 * 1024);
  char text[256];
  out += "{\"orders\": [\n";
  for (int i = 0; i < kOrders; i++) {
    snprintf(text, sizeof text,
             "  {\"id\": %u, \"customer\": \"customer number %06u\", \"paid\": %s, \"lines\": [",
             1000 + random.Below(100000), random.Below(1000000), random.Below(3) == 0 ? "false" : "true");
    out += text;
    const uint32_t lines = 12 + random.Below(12);
    for (uint32_t k = 0; k < lines; k++) {
      snprintf(text, sizeof text,
               "%s{\"article\": \"article number %06u, \\\"new\\\"\", \"count\": %u, \"price\": %u.%02u}",
               k == 0 ? "" : ", ", random.Below(1000000), 1 + random.Below(9), random.Below(500),
               random.Below(100));
      out += text;
    }
    out += i + 1 < kOrders ? "]},\n" : "]}\n";
  }
  out += "]}\n";
  return out;
}

// --- the tree -------------------------------------------------------------------------------------------------

struct Value;

struct Member {
  std::string_view name;  // within the document
  Value* value;
};

enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

struct Value {
  const Value* Find(std::string_view name) const {
    for (const Member& m : members) {
      if (m.name == name) return m.value;
    }
    return nullptr;
  }

  Kind kind = Kind::kNull;
  double number = 0;
  std::string_view text;  // in the tree's memory
  std::vector<Value*> items;
  std::vector<Member> members;
};

// The values of a document, with their texts, which all go with it.
class Tree {
 public:
  Value* Make() { return &values_.emplace_back(); }
  char* Room(size_t size) { return static_cast<char*>(memory_.allocate(size, 1)); }

 private:
  std::pmr::monotonic_buffer_resource memory_{64 * 1024};
  std::pmr::deque<Value> values_{&memory_};
};

// --- the reader -----------------------------------------------------------------------------------------------

class Reader {
 public:
  Reader(const std::string& document, Tree* tree)
      : at_(document.data()), end_(at_ + document.size()), tree_(tree) {}

  Value* Read() {
    SkipBlanks();
    Value* value = tree_->Make();
    switch (Peek()) {
      case '{':
        ReadObject(value);
        break;
      case '[':
        ReadArray(value);
        break;
      case '"':
        value->kind = Kind::kString;
        value->text = ReadText();
        break;
      case 't':
        ReadWord(value, "true", Kind::kBool, 1);
        break;
      case 'f':
        ReadWord(value, "false", Kind::kBool, 0);
        break;
      case 'n':
        ReadWord(value, "null", Kind::kNull, 0);
        break;
      default:
        ReadNumber(value);
    }
    return value;
  }

 private:
  [[noreturn]] void Fail(const char* what) {
    fprintf(stderr, "%s expected, %ld bytes before the end\n", what, static_cast<long>(end_ - at_));
    exit(1);
  }

  char Peek() const { return at_ < end_ ? *at_ : '\0'; }

  void SkipBlanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) at_++;
  }

  bool Skip(char c) {
    SkipBlanks();
    if (Peek() != c) return false;
    at_++;
    return true;
  }

  void ReadWord(Value* value, std::string_view word, Kind kind, double number) {
    if (std::string_view(at_, end_ - at_).substr(0, word.size()) != word) Fail("a word");
    at_ += word.size();
    value->kind = kind;
    value->number = number;
  }

  void ReadNumber(Value* value) {
    char* after = nullptr;
    value->kind = Kind::kNumber;
    value->number = strtod(at_, &after);
    if (after == at_) Fail("a value");
    at_ = after;
  }

  // The characters between the quotes, as they stand in the document.
  std::string_view ReadQuoted() {
    if (!Skip('"')) Fail("a string");
    const char* begin = at_;
    while (at_ < end_ && *at_ != '"') at_ += *at_ == '\\' ? 2 : 1;
    if (at_ >= end_) Fail("the end of a string");
    return std::string_view(begin, at_++ - begin);
  }

  std::string_view ReadText() {
    const std::string_view quoted = ReadQuoted();
    char* const text = tree_->Room(quoted.size());
    size_t size = 0;
    for (size_t i = 0; i < quoted.size(); i++) {
      if (quoted[i] == '\\' && i + 1 < quoted.size()) i++;
      text[size++] = quoted[i];
    }
    return std::string_view(text, size);
  }

  void ReadArray(Value* value) {
    value->kind = Kind::kArray;
    at_++;
    if (Skip(']')) return;
    value->items.reserve(24);
    do {
      value->items.push_back(Read());
    } while (Skip(','));
    if (!Skip(']')) Fail("]");
  }

  void ReadObject(Value* value) {
    value->kind = Kind::kObject;
    at_++;
    if (Skip('}')) return;
    value->members.reserve(4);
    do {
      SkipBlanks();
      std::string_view name = ReadQuoted();
      if (!Skip(':')) Fail(":");
      value->members.push_back({name, Read()});
    } while (Skip(','));
    if (!Skip('}')) Fail("}");
  }

  const char* at_;
  const char* end_;
  Tree* tree_;
};

// --- the questions --------------------------------------------------------------------------------------------

struct Answer {
  double open = 0;  // what unpaid orders sum up to
  long lines = 0;
  uint32_t articles = 0;  // a checksum of their names
};

void Ask(const Value& document, Answer* answer) {
  for (const Value* order : document.Find("orders")->items) {
    const bool paid = order->Find("paid")->number != 0;
    for (const Value* line : order->Find("lines")->items) {
      answer->lines++;
      if (!paid) answer->open += line->Find("count")->number * line->Find("price")->number;
      for (char c : line->Find("article")->text)
        answer->articles = answer->articles * 31 + static_cast<uint8_t>(c);
    }
  }
}

}  // namespace

int main() {
  Answer answer;
  for (uint32_t i = 0; i < kDocuments; i++) {
    const std::string document = MakeDocument(i);
    Tree tree;
    Reader reader(document, &tree);
    Ask(*reader.Read(), &answer);
  }
  printf("%ld lines, %.2f open, articles %08x\n", answer.lines, answer.open, answer.articles);
  return 0;
}
