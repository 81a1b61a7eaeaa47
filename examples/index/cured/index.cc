// A search index: which words occur in which documents, and how often; then queries over it. The documents are made
// by the program itself: a few words are frequent, most are rare.
//
//   c++ -std=c++17 -O2 -g -o index index.cc && mallow ./index
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

constexpr int kDocuments = 1500;
constexpr int kWords = 4000;
constexpr int kWordsOfDocument = 220;
constexpr int kQueries = 400;

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed) {}
  uint32_t Below(uint32_t limit) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % limit;
  }
  // Small numbers are more frequent than large ones.
  uint32_t Skewed(uint32_t limit) {
    const double u = (Below(1 << 20) + 1.0) / (1 << 20);
    return static_cast<uint32_t>(limit * u * u * u) % limit;
  }

 private:
  uint32_t state_;
};

using Document = std::vector<std::string>;

std::string Word(uint32_t number) {
  static const char* const kSyllables[] = {"ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"};
  std::string word;
  do {
    word += kSyllables[number % 10];
    number /= 10;
  } while (number != 0);
  return word;
}

std::vector<Document> MakeDocuments() {
  Random random(5);
  std::vector<Document> documents(kDocuments);
  for (Document& d : documents) {
    d.reserve(kWordsOfDocument);
    for (int i = 0; i < kWordsOfDocument; i++) d.push_back(Word(random.Skewed(kWords)));
  }
  return documents;
}

// --- the index ------------------------------------------------------------------------------------------------

struct Posting {
  int document;
  int count;
};

struct Score {
  size_t words = 0;
  double sum = 0;
};

class Index {
 public:
  void Add(int number, const Document& document) {
    sorted_.assign(document.begin(), document.end());
    std::sort(sorted_.begin(), sorted_.end());
    for (size_t i = 0, end; i < sorted_.size(); i = end) {
      for (end = i + 1; end < sorted_.size() && sorted_[end] == sorted_[i];) end++;
      postings_[std::string(sorted_[i])].push_back({number, static_cast<int>(end - i)});
    }
    documents_++;
  }

  // The documents that have all the words, the best first.
  std::vector<std::pair<double, int>> Find(const std::vector<std::string>& words) const {
    std::vector<Score> scores(documents_);
    for (const std::string& word : words) {
      auto found = postings_.find(word);
      if (found == postings_.end()) return {};
      const double weight = std::log(1.0 + double(documents_) / double(found->second.size()));
      for (const Posting& p : found->second) {
        Score& score = scores[p.document];
        score.words++;
        score.sum += weight * p.count;
      }
    }
    std::vector<std::pair<double, int>> best;
    best.reserve(documents_);
    for (int document = 0; document < documents_; document++) {
      if (scores[document].words == words.size()) best.emplace_back(scores[document].sum, document);
    }
    std::sort(best.begin(), best.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    return best;
  }

  size_t words() const { return postings_.size(); }

 private:
  std::unordered_map<std::string, std::vector<Posting>> postings_;
  std::vector<std::string_view> sorted_;  // the words of the document that is being added
  int documents_ = 0;
};

}  // namespace

int main() {
  const std::vector<Document> documents = MakeDocuments();
  Index index;
  for (size_t i = 0; i < documents.size(); i++) index.Add(static_cast<int>(i), documents[i]);

  Random random(11);
  size_t hits = 0;
  uint32_t checksum = 0;
  for (int i = 0; i < kQueries; i++) {
    const std::vector<std::string> words = {Word(random.Skewed(200)), Word(random.Skewed(200))};
    const auto best = index.Find(words);
    hits += best.size();
    for (size_t k = 0; k < best.size() && k < 10; k++) {
      checksum =
          checksum * 31 + static_cast<uint32_t>(best[k].second) + static_cast<uint32_t>(best[k].first * 16);
    }
  }
  printf("%zu words, %zu hits, checksum %08x\n", index.words(), hits, checksum);
  return 0;
}
