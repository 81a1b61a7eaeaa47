// What a C++ program does with the containers of its standard library: counts words in hash tables and in trees, joins
// and splits strings, keeps a cache of shared objects with a list of who was used last, and sorts; ROUNDS times.
//
//	containers ROUNDS
#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "support.h"

namespace {

using Text = std::vector<std::string>;

// Words of 1 to 40 letters; few occur often, many seldom.
Text Words(bench::Random& random, size_t count) {
  Text words;
  for (size_t i = 0; i < count; i++) {
    const uint32_t rank = random.Below(1 + random.Below(20000));
    words.push_back("w" + std::to_string(rank) + std::string(rank % 37, 'x'));
  }
  return words;
}

size_t CountWords(const Text& words) {
  std::unordered_map<std::string, std::vector<uint32_t>> places;
  std::map<std::string, uint32_t> counts;
  for (size_t i = 0; i < words.size(); i++) {
    places[words[i]].push_back(static_cast<uint32_t>(i));
    counts[words[i]]++;
  }
  for (const auto& [word, number] : counts)
    if (places[word].size() != number) bench::Fail("two counts of one word differ");
  return counts.size();
}

void JoinAndSplit(const Text& words) {
  std::string joined;
  for (const std::string& word : words) joined += word + " ";
  Text split;
  for (size_t start = 0; start < joined.size();) {
    const size_t end = joined.find(' ', start);
    split.push_back(joined.substr(start, end - start));
    start = end + 1;
  }
  if (split != words) bench::Fail("the words changed on their way");
}

class Cache {
 public:
  explicit Cache(size_t room) : room_(room) {}

  std::shared_ptr<const std::string> Get(uint32_t key) {
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return order_.front().second;
    }
    order_.emplace_front(
        key, std::make_shared<const std::string>(20 + key % 300, static_cast<char>('a' + key % 26)));
    entries_[key] = order_.begin();
    if (order_.size() > room_) {
      entries_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

 private:
  using Order = std::list<std::pair<uint32_t, std::shared_ptr<const std::string>>>;
  const size_t room_;
  Order order_;
  std::unordered_map<uint32_t, Order::iterator> entries_;
};

void UseCache(bench::Random& random) {
  Cache cache(2000);
  std::deque<std::shared_ptr<const std::string>> held;
  for (int i = 0; i < 30000; i++) {
    const uint32_t key = random.Below(1 + random.Below(10000));
    held.push_back(cache.Get(key));
    if (held.back()->size() != 20 + key % 300) bench::Fail("the cache holds another string");
    if (held.size() > 500) held.pop_front();
  }
}

void Sort(const Text& words) {
  Text sorted = words;
  std::stable_sort(sorted.begin(), sorted.end());
  const std::multiset<std::string> tree(words.begin(), words.end());
  if (!std::equal(sorted.begin(), sorted.end(), tree.begin(), tree.end()))
    bench::Fail("two orders of one text differ");
}

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 1, "ROUNDS");
  bench::Random random(15);
  for (uint64_t round = arguments.Number(1); round > 0; round--) {
    const Text words = Words(random, 20000);
    if (CountWords(words) < 1000) bench::Fail("words are missing");
    JoinAndSplit(words);
    UseCache(random);
    Sort(words);
  }
}
