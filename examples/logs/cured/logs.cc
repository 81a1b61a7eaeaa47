// Reads a web server's log and sums up who asked for what: per host, per path, and the slow requests by their
// parameters. The log is made by the program itself, a line at a time.
//
//   c++ -std=c++17 -O2 -g -o logs logs.cc && mallow ./logs
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

constexpr int kLines = 20000;

// --- the log --------------------------------------------------------------------------------------------------

class Log {
 public:
  // The next line; false at the end.
  bool Read(std::string* line) {
    if (written_ == kLines) return false;
    char text[256];
    const uint32_t host = Below(40);
    const uint32_t page = Below(60);
    const bool slow = Below(50) == 0;
    snprintf(text, sizeof text,
             "198.51.100.%u %02d:%02d:%02d GET /catalogue/pages/%s/%u?user=%u&order=%u %u %u %u.%03u", host,
             written_ / 3600 % 24, written_ / 60 % 60, written_ % 60, kSections[page % 4], page, Below(1000),
             Below(100000), Below(20) == 0 ? 404 : 200, 200 + Below(30000), slow ? 1 + Below(9) : 0,
             Below(1000));
    line->assign(text);
    written_++;
    return true;
  }

 private:
  static constexpr const char* kSections[4] = {"gardening-tools", "kitchen-appliances", "musical-instruments",
                                               "books"};

  uint32_t Below(uint32_t limit) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % limit;
  }

  uint32_t state_ = 23;
  int written_ = 0;
};

// --- the parser -----------------------------------------------------------------------------------------------

// Its texts are parts of the line.
struct Request {
  std::string_view host;
  std::string_view time;
  std::string_view path;
  std::string_view query;
  int status = 0;
  long bytes = 0;
  double seconds = 0;
};

// Cuts off what stands before the next blank.
std::string_view NextField(std::string_view* rest) {
  const size_t end = std::min(rest->find(' '), rest->size());
  const std::string_view field = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return field;
}

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

// host time method target status bytes seconds
bool Parse(std::string_view line, Request* request) {
  request->host = NextField(&line);
  request->time = NextField(&line);
  NextField(&line);  // the method
  const std::string_view target = NextField(&line);
  const std::string_view status = NextField(&line);
  const std::string_view bytes = NextField(&line);
  if (!ReadNumber(status, &request->status) || !ReadNumber(bytes, &request->bytes) ||
      !ReadNumber(NextField(&line), &request->seconds)) {
    return false;
  }
  const size_t question = target.find('?');
  request->path = target.substr(0, question);
  request->query = question == std::string_view::npos ? "" : target.substr(question + 1);
  return true;
}

// The value of a parameter of a query: "user=12&order=34".
std::string_view Parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    if (parameter.size() > name.size() && parameter.substr(0, name.size()) == name &&
        parameter[name.size()] == '=') {
      return parameter.substr(name.size() + 1);
    }
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
  }
  return {};
}

// --- the sums -------------------------------------------------------------------------------------------------

struct Sum {
  long requests = 0;
  long bytes = 0;
  double seconds = 0;
};

class Report {
 public:
  void Take(const Request& request) {
    Add(SumOf(&hosts_, request.host), request);
    Add(SumOf(&paths_, request.path), request);
    if (request.status >= 400) failed_++;
    if (request.seconds >= 1) Add(SumOf(&slow_, Parameter(request.query, "user")), request);
  }

  void Print() const {
    printf("%zu hosts, %zu paths, %zu users waited, %ld failed\n", hosts_.size(), paths_.size(), slow_.size(),
           failed_);
    PrintTop("host", hosts_);
    PrintTop("path", paths_);
    PrintTop("user", slow_);
  }

 private:
  using Sums = std::map<std::string, Sum, std::less<>>;

  // Makes a string only for a name that is new.
  static Sum* SumOf(Sums* sums, std::string_view name) {
    const auto found = sums->find(name);
    return found != sums->end() ? &found->second : &(*sums)[std::string(name)];
  }

  static void Add(Sum* sum, const Request& request) {
    sum->requests++;
    sum->bytes += request.bytes;
    sum->seconds += request.seconds;
  }

  static void PrintTop(const char* what, const Sums& sums) {
    std::vector<std::pair<long, const std::string*>> order;
    order.reserve(sums.size());
    for (const auto& [name, sum] : sums) order.emplace_back(-sum.bytes, &name);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : *a.second < *b.second;
    });
    for (size_t i = 0; i < order.size() && i < 3; i++) {
      const Sum& sum = sums.at(*order[i].second);
      printf("%s %s: %ld requests, %ld bytes, %.3f s\n", what, order[i].second->c_str(), sum.requests,
             sum.bytes, sum.seconds);
    }
  }

  Sums hosts_;
  Sums paths_;
  Sums slow_;
  long failed_ = 0;
};

}  // namespace

int main() {
  Log log;
  Report report;
  std::string line;
  while (log.Read(&line)) {
    Request request;
    if (Parse(line, &request)) report.Take(request);
  }
  report.Print();
  return 0;
}
