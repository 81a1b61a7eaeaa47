// TransferCache against a stack.
#include <vector>

#include "base/fuzz.h"
#include "heap/fuzz_memory.h"
#include "heap/shared_lists.h"

namespace mallow::heap {
namespace {

class Game {
 public:
  explicit Game(FuzzInput input)
      : input_(input), class_(1 + input_.Below(kClassCount - 1)), cache_(shared_lists[class_].transfer) {
    os::ReplaceMemoryFunctions(&kFailingMemory);
    Failures::Plan(input_.Below(65536), input_.OneIn(2) ? 0 : 1 + input_.Below(4));
  }

  void Play() {
    while (!input_.done()) {
      Step();
      MALLOW_CHECK(cache_.IsValid(class_) && cache_.count() == stack_.size());
    }
    Failures::Plan(0, 0);
    cache_.ReleaseAll(class_);
    MALLOW_CHECK(cache_.count() == 0);
    shared_lists[class_].central.Release(own_.data(), own_.size());
    MALLOW_CHECK(shared_lists[class_].central.free_objects() == 0);
    os::ReplaceMemoryFunctions(nullptr);
  }

 private:
  void Step() {
    const size_t capacity = TransferCache::CapacityOf(class_);
    const size_t count = 1 + input_.Below(Min<size_t>(capacity, 200));
    switch (input_.Operation(8)) {
      case 0:
      case 1:
      case 2:
        return Insert(count);
      case 3:
      case 4:
      case 5:
        return Remove(count);
      case 6:
        return ReleaseIdle();
      default:
        if (!input_.OneIn(32)) return;
        cache_.ReleaseAll(class_);
        stack_.clear();
        low_water_ = 0;
    }
  }

  void Insert(size_t count) {
    FetchOwn(count);
    count = Min(count, own_.size());
    std::vector<void*> objects(own_.end() - static_cast<long>(count), own_.end());
    own_.resize(own_.size() - count);
    const size_t room = TransferCache::CapacityOf(class_) - stack_.size();
    const size_t taken = cache_.Insert(class_, objects.data(), count);
    // It may take nothing when there is no memory for its array.
    MALLOW_CHECK(taken == Min(count, room) || (taken == 0 && stack_.empty()));
    const auto left = objects.end() - static_cast<long>(taken);
    stack_.insert(stack_.end(), left, objects.end());
    own_.insert(own_.end(), objects.begin(), left);
  }

  void Remove(size_t count) {
    std::vector<void*> objects(count, nullptr);
    const size_t taken = cache_.Remove(objects.data(), count);
    MALLOW_CHECK(taken == Min(count, stack_.size()));
    for (size_t i = 0; i < taken; ++i) MALLOW_CHECK(objects[i] == stack_[stack_.size() - taken + i]);
    stack_.resize(stack_.size() - taken);
    low_water_ = Min(low_water_, stack_.size());
    own_.insert(own_.end(), objects.begin(), objects.begin() + static_cast<long>(taken));
  }

  // Half of what was there all the time since the last call, the newest of it.
  void ReleaseIdle() {
    const size_t idle = DivideUp(low_water_, 2);
    cache_.ReleaseIdle(class_);
    stack_.resize(stack_.size() - idle);
    low_water_ = stack_.size();
  }

  void FetchOwn(size_t count) {
    if (own_.size() >= count) return;
    std::vector<void*> slots(count);
    const size_t fetched = shared_lists[class_].central.Fetch(class_, slots.data(), count);
    own_.insert(own_.end(), slots.end() - static_cast<long>(fetched), slots.end());
    // Before the heap grows all goes or nothing, see MakeRoom.
    if (cache_.count() != 0) return;
    stack_.clear();
    low_water_ = 0;
  }

  FuzzInput input_;
  const SizeClass class_;
  TransferCache& cache_;
  std::vector<void*> stack_;
  size_t low_water_ = 0;
  std::vector<void*> own_;  // objects that are neither here nor there
};

}  // namespace
}  // namespace mallow::heap

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::heap::Game({data, size}).Play();
  return 0;
}
