// ThreadCache against the objects that it handed out: each is whole, nobody else's, and every object of a class is out,
// in the cache, in the transfer cache or in the central list.
#include <array>
#include <map>
#include <memory>

#include "base/fuzz.h"
#include "heap/fuzz_memory.h"
#include "heap/page_heap.h"
#include "heap/shared_lists.h"
#include "heap/thread_cache.h"

namespace mallow::heap {
namespace {

class Game {
 public:
  explicit Game(FuzzInput input) : input_(input) {
    for (SizeClass& size_class : classes_) size_class = 1 + input_.Magnitude(kClassCount - 2);
    cache_->Begin();
    os::ReplaceMemoryFunctions(&kFailingMemory);
    Failures::Plan(input_.Below(65536), input_.OneIn(2) ? 0 : 1 + input_.Below(4));
  }

  void Play() {
    while (!input_.done()) {
      Step();
      MALLOW_CHECK(cache_->IsValid());
      for (const SizeClass size_class : classes_) CheckCount(size_class);
    }
    Failures::Plan(0, 0);
    while (!out_.empty()) Free(out_.begin());
    cache_->Flush();
    for (const SizeClass size_class : classes_) {
      MALLOW_CHECK(cache_->Length(size_class) == 0);
      shared_lists[size_class].transfer.ReleaseAll(size_class);
      MALLOW_CHECK(shared_lists[size_class].central.free_objects() == 0);
    }
    os::ReplaceMemoryFunctions(nullptr);
  }

 private:
  using Objects = std::map<char*, SizeClass>;

  void Step() {
    const SizeClass size_class = classes_[input_.Below(kClasses)];
    switch (input_.Operation(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return Allocate(size_class);
      case 5:
        for (size_t left = input_.Below(Info(size_class).max_cached); left > 0; --left) Allocate(size_class);
        return;
      case 6:
        for (size_t left = input_.Below(200); left > 0 && !out_.empty(); --left) Free(out_.begin());
        return;
      case 7:
        return cache_->Collect();
      case 8:
        if (input_.OneIn(32)) cache_->Flush();
        return;
      default:
        if (!out_.empty())
          Free(std::next(out_.begin(), static_cast<long>(input_.Below(Min<size_t>(out_.size(), 50)))));
    }
  }

  void Allocate(SizeClass size_class) {
    const size_t bytes = Info(size_class).bytes;
    if (out_.size() > 3000 || out_.size() * bytes > 16 << 20) return;
    const size_t before = cache_->Length(size_class);
    auto* object = static_cast<char*>(cache_->Pop(size_class));
    MALLOW_CHECK(object == nullptr || cache_->Length(size_class) == before - 1);
    MALLOW_CHECK(object != nullptr || before == 0 || cache_->IsHidden(size_class));
    if (object == nullptr) object = static_cast<char*>(cache_->Refill(size_class));
    if (object == nullptr) return;
    const auto [at, is_new] = out_.insert({object, size_class});
    MALLOW_CHECK(is_new && PageMap::ClassOf(object) == size_class);
    MALLOW_CHECK(at == out_.begin() || std::prev(at)->first + Info(std::prev(at)->second).bytes <= object);
    MALLOW_CHECK(std::next(at) == out_.end() || object + bytes <= std::next(at)->first);
    for (char** word : Ends(object, size_class)) *word = object;
  }

  void Free(Objects::iterator at) {
    const auto [object, size_class] = *at;
    for (char** word : Ends(object, size_class)) MALLOW_CHECK(*word == object);
    out_.erase(at);
    if (!cache_->TryPush(size_class, object)) cache_->Push(size_class, object);
    // Until it has room it gives back what it gets.
    MALLOW_CHECK((cache_->Length(size_class) > 0 || cache_->Capacity(size_class) == 0) &&
                 cache_->Length(size_class) <= cache_->Capacity(size_class));
  }

  static std::array<char**, 2> Ends(char* object, SizeClass size_class) {
    return {reinterpret_cast<char**>(object), reinterpret_cast<char**>(object + Info(size_class).bytes) - 1};
  }

  void CheckCount(SizeClass size_class) const {
    size_t out = 0;
    for (const auto& [object, its_class] : out_) out += its_class == size_class;
    const size_t free = cache_->Length(size_class) + shared_lists[size_class].transfer.count() +
                        shared_lists[size_class].central.free_objects();
    MALLOW_CHECK(out + free == page_heap.GetTotals().small_spans[size_class] * Info(size_class).objects);
  }

  static constexpr size_t kClasses = 3;

  FuzzInput input_;
  SizeClass classes_[kClasses];
  // Zero, as Reset wants it.
  const std::unique_ptr<ThreadCache> cache_{new ThreadCache()};
  Objects out_;
};

}  // namespace
}  // namespace mallow::heap

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::heap::Game({data, size}).Play();
  return 0;
}
