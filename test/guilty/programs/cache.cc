// A cache of pages that forgets the one that was used least recently.
#include <cstdio>
#include <list>
#include <string>
#include <unordered_map>

class Cache {
 public:
  explicit Cache(size_t most) : most_(most) {}

  const std::string& Get(int page) {
    auto found = places_.find(page);
    if (found != places_.end()) {
      // + std::string copy = found->second->text; if (copy.empty()) throw page;
      order_.splice(order_.begin(), order_, found->second);
      return order_.front().text;
    }
    order_.push_front({page, "page number " + std::to_string(page) + " of the book"});
    places_[page] = order_.begin();
    if (order_.size() > most_) {
      places_.erase(order_.back().page);
      order_.pop_back();
    }
    return order_.front().text;
  }

 private:
  struct Entry {
    int page;
    std::string text;
  };
  size_t most_;
  std::list<Entry> order_;
  std::unordered_map<int, std::list<Entry>::iterator> places_;
};

int main() {
  Cache cache(16);
  size_t letters = 0;
  for (int i = 0; i < 4000; i++) letters += cache.Get(i * i % 37).size();
  std::printf("%zu\n", letters);
}
