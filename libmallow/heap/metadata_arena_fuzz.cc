// MetadataArena against a map of what it handed out and what was written there.
#include <cstring>
#include <map>
#include <memory>

#include "base/fuzz.h"
#include "heap/fuzz_memory.h"
#include "heap/metadata_arena.h"

namespace mallow::heap {
namespace {

struct Part {
  size_t bytes;
  unsigned char fill;
  bool is_array;
};

class Game {
 public:
  explicit Game(FuzzInput input) : input_(input) {
    RewindableMemory::Install(input_.Below(65536));
    Failures::Plan(input_.Below(65536), input_.OneIn(2) ? 0 : 1 + input_.Below(4));
  }

  void Play() {
    while (!input_.done()) Step();
    for (const auto& [p, part] : live_) Expect(p, part);
    Failures::Plan(0, 0);
    RewindableMemory::Rewind();
    os::ReplaceMemoryFunctions(nullptr);
  }

 private:
  using Parts = std::map<unsigned char*, Part>;

  void Step() {
    const size_t before = arena_->bytes();
    switch (input_.Operation(8)) {
      case 0: {
        const size_t alignment = size_t{1} << input_.Below(13);
        const size_t bytes = 1 + input_.Magnitude(input_.OneIn(200) ? 3 << 20 : 20000);
        void* p = arena_->Allocate(bytes, alignment);
        MALLOW_CHECK(arena_->bytes() == before + (p == nullptr ? 0 : bytes));
        if (p == nullptr) return;
        MALLOW_CHECK(IsAligned(p, alignment) && IsZero(static_cast<unsigned char*>(p), bytes));
        return Keep(p, bytes, false);
      }
      case 1:
      case 2:
      case 3:
      case 4: {
        const size_t bytes = 1 + input_.Magnitude(MetadataArena::kMaxArrayBytes - 1);
        void* p = arena_->AllocateArray(bytes);
        if (p != nullptr) Keep(p, bytes, true);
        return;
      }
      default:
        FreeArray();
    }
  }

  void FreeArray() {
    if (live_.empty()) return;
    const auto chosen = std::next(live_.begin(), static_cast<long>(input_.Below(live_.size())));
    const auto [p, part] = *chosen;
    Expect(p, part);
    if (!part.is_array) return;
    live_.erase(chosen);
    const size_t before = arena_->bytes();
    arena_->FreeArray(p, part.bytes);
    MALLOW_CHECK(arena_->bytes() == before);
  }

  static bool IsZero(const unsigned char* p, size_t bytes) {
    return p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0;
  }

  static void Expect(const unsigned char* p, const Part& part) {
    MALLOW_CHECK(p[0] == part.fill && memcmp(p, p + 1, part.bytes - 1) == 0);
  }

  void Keep(void* memory, size_t bytes, bool is_array) {
    auto* p = static_cast<unsigned char*>(memory);
    const auto behind = live_.lower_bound(p);
    MALLOW_CHECK(behind == live_.end() || p + bytes <= behind->first);
    MALLOW_CHECK(behind == live_.begin() || std::prev(behind)->first + std::prev(behind)->second.bytes <= p);
    MALLOW_CHECK(RewindableMemory::Holds(p, bytes));
    const auto fill = static_cast<unsigned char>(1 + input_.Below(255));
    memset(p, fill, bytes);
    live_[p] = {bytes, fill, is_array};
  }

  FuzzInput input_;
  const std::unique_ptr<MetadataArena> arena_ = std::make_unique<MetadataArena>();
  Parts live_;
};

}  // namespace
}  // namespace mallow::heap

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::heap::Game({data, size}).Play();
  return 0;
}
