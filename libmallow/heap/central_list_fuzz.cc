// CentralList against the set of objects that it handed out, with a page heap that has no memory now and then.
#include <set>
#include <utility>
#include <vector>

#include "base/fuzz.h"
#include "heap/central_list.h"
#include "heap/fuzz_memory.h"
#include "heap/page_heap.h"

namespace mallow::heap {
namespace {

class Game {
 public:
  explicit Game(FuzzInput input)
      : input_(input), class_(1 + input_.Below(kClassCount - 1)), foreign_spans_(Spans()) {
    os::ReplaceMemoryFunctions(&kFailingMemory);
    Failures::Plan(input_.Below(65536), input_.OneIn(2) ? 0 : 1 + input_.Below(4));
  }

  void Play() {
    // Long objects need few to fill a span.
    const size_t most = Info(class_).bytes > 4096 ? 300 : 3000;
    while (!input_.done()) {
      const bool fetch = input_.Operation(2) == 0;
      const size_t count = 1 + input_.Magnitude(200);
      if (fetch && out_.size() < most) {
        Fetch(count);
      } else {
        Release(Min(count, out_.size()));
      }
      Check();
    }
    Failures::Plan(0, 0);
    Release(out_.size());
    Check();
    MALLOW_CHECK(list_.free_objects() == 0 && Spans() == foreign_spans_);
    os::ReplaceMemoryFunctions(nullptr);
  }

 private:
  size_t Spans() const { return page_heap.GetTotals().small_spans[class_]; }

  void Fetch(size_t count) {
    std::vector<void*> slots(count, nullptr);
    const size_t before = list_.free_objects();
    const size_t fetched = list_.Fetch(class_, slots.data(), count);
    MALLOW_CHECK(fetched <= count && (before == 0 || fetched == Min(before, count)));
    for (size_t i = 0; i < count - fetched; ++i) MALLOW_CHECK(slots[i] == nullptr);
    for (size_t i = count - fetched; i < count; ++i) {
      auto* object = static_cast<char*>(slots[i]);
      MALLOW_CHECK(PageMap::ClassOf(object) == class_ && out_.insert(object).second);
      const auto [before_it, behind_it] = Neighbours(object);
      MALLOW_CHECK(before_it == nullptr || before_it + Info(class_).bytes <= object);
      MALLOW_CHECK(behind_it == nullptr || object + Info(class_).bytes <= behind_it);
    }
  }

  std::pair<char*, char*> Neighbours(char* object) const {
    const auto at = out_.find(object);
    const auto next = std::next(at);
    return {at == out_.begin() ? nullptr : *std::prev(at), next == out_.end() ? nullptr : *next};
  }

  // Neighbours as well as objects from anywhere.
  void Release(size_t count) {
    std::vector<void*> objects;
    auto at = out_.lower_bound(out_.empty() ? nullptr : *out_.begin() + input_.Below(Extent()));
    while (objects.size() < count) {
      if (at == out_.end()) at = out_.begin();
      objects.push_back(*at);
      at = out_.erase(at);
      if (input_.OneIn(4)) at = out_.begin();
    }
    list_.Release(objects.data(), objects.size());
  }

  uint64_t Extent() const { return static_cast<uint64_t>(*out_.rbegin() - *out_.begin()) + 1; }

  void Check() {
    MALLOW_CHECK(list_.IsValid(class_));
    MALLOW_CHECK(list_.free_objects() + out_.size() == (Spans() - foreign_spans_) * Info(class_).objects);
  }

  FuzzInput input_;
  const SizeClass class_;
  const size_t foreign_spans_;
  CentralList list_;
  std::set<char*> out_;
};

}  // namespace
}  // namespace mallow::heap

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::heap::Game({data, size}).Play();
  return 0;
}
