// Reads a web server's log and sums up who asked for what: per host, per path, and the slow requests by their
// parameters. The log is made by the program itself, a line at a time.
//
//   c++ -std=c++17 -O2 -g -o logs logs.cc && mallow ./logs
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <regex>
#include <sstream>
#include <string>
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

struct Request {
  std::string host;
  std::string time;
  std::string path;
  std::string query;
  int status = 0;
  long bytes = 0;
  double seconds = 0;
};

std::string Part(const std::string& text, size_t begin, size_t end) {
  return text.substr(begin, end - begin);  // planted: string-copy
}

class Parser {
 public:
  // host time method target status bytes seconds
  bool Parse(const std::string& line, Request* request) {
    std::istringstream in(line);  // planted: string-stream
    in >> request->host >> request->time >> method_ >> target_ >> request->status >> request->bytes >>
        request->seconds;
    if (!in) return false;
    const size_t question = std::min(target_.find('?'), target_.size());
    request->path = Part(target_, 0, question);
    request->query = Part(target_, std::min(question + 1, target_.size()), target_.size());
    return true;
  }

 private:
  std::string method_;
  std::string target_;
};

// The value of a parameter of a query: "user=12&order=34".
std::string Parameter(const std::string& query, const std::string& name) {
  const std::regex pattern("(^|&)" + name + "=([^&]*)");  // planted: regex-in-loop
  std::smatch match;
  return std::regex_search(query, match, pattern) ? match[2].str() : std::string();
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
    Add(&hosts_[request.host], request);
    Add(&paths_[request.path], request);
    if (request.status >= 400) failed_++;
    if (request.seconds >= 1) Add(&slow_[Parameter(request.query, "user")], request);
  }

  void Print() const {
    printf("%zu hosts, %zu paths, %zu users waited, %ld failed\n", hosts_.size(), paths_.size(), slow_.size(),
           failed_);
    PrintTop("host", hosts_);
    PrintTop("path", paths_);
    PrintTop("user", slow_);
  }

 private:
  using Sums = std::map<std::string, Sum>;

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
  Parser parser;
  Report report;
  std::string line;
  while (log.Read(&line)) {
    Request request;
    if (parser.Parse(line, &request)) report.Take(request);
  }
  report.Print();
  return 0;
}
