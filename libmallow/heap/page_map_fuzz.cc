// PageMap against a map of what was set, across leaves, at the end of the address space, and without memory for leaves.
#include <deque>
#include <map>

#include "base/fuzz.h"
#include "heap/fuzz_memory.h"
#include "heap/page_map.h"
#include "heap/span.h"

namespace mallow::heap {
namespace {

struct Entry {
  Span* span = nullptr;
  SizeClass size_class = 0;
  PageState state = PageState::kForeign;
};

// Ranges begin around these: the ends of leaves and of all addresses.
constexpr PageId kEnd = PageId{internal::kRoots} << internal::kLeafBits;
constexpr PageId kAnchors[] = {0,
                               internal::kLeafPages,
                               2 * internal::kLeafPages,
                               PageId{0x1234} << internal::kLeafBits,
                               kEnd - internal::kLeafPages,
                               kEnd};
constexpr size_t kAnchorCount = sizeof(kAnchors) / sizeof(kAnchors[0]);
constexpr Pages kAround = 40;

class Game {
 public:
  explicit Game(FuzzInput input) : input_(input) {
    os::ReplaceMemoryFunctions(&kFailingMemory);
    Failures::Plan(input_.Below(65536), input_.OneIn(2) ? 0 : 2);
  }

  void Play() {
    while (!input_.done()) {
      Step();
      CheckAround(kAnchors[input_.Below(kAnchorCount)]);
    }
    for (const PageId anchor : kAnchors) CheckAround(anchor);
    // Leaves stay, so what was set must not be seen by the next input.
    for (const auto& [page, entry] : model_) {
      PageMap::SetSpan(page, nullptr);
      PageMap::SetClass(page, 1, 0);
      PageMap::SetState(page, 1, PageState::kForeign);
    }
    Failures::Plan(0, 0);
    os::ReplaceMemoryFunctions(nullptr);
  }

 private:
  void Step() {
    const PageId anchor = kAnchors[input_.Below(kAnchorCount)];
    const PageId page = anchor - Min<PageId>(anchor, kAround) + input_.Below(2 * kAround);
    const Pages pages = 1 + input_.Below(kAround);
    const size_t operation = input_.Operation(8);
    if (!IsReserved(page, pages)) return Reserve(page, pages);
    switch (operation) {
      case 0:
      case 1:
        PageMap::SetSpan(page, &spans_.emplace_back());
        model_[page].span = &spans_.back();
        return;
      case 2:
      case 3: {
        const SizeClass size_class = input_.Below(kClassCount);
        PageMap::SetClass(page, pages, size_class);
        return Change(page, pages, [=](Entry& entry) { entry.size_class = size_class; });
      }
      case 4:
      case 5: {
        const auto state = static_cast<PageState>(input_.Below(3));
        PageMap::SetState(page, pages, state);
        return Change(page, pages, [=](Entry& entry) { entry.state = state; });
      }
      case 6:
        return CheckResident(page, pages);
      default:
        return CheckRun(page, pages);
    }
  }

  template <typename F>
  void Change(PageId page, Pages pages, F f) {
    for (Pages i = 0; i < pages; ++i) f(model_[page + i]);
  }

  // Nothing may be set before; afterwards all may, or nothing has changed.
  void Reserve(PageId page, Pages pages) {
    const size_t before = PageMap::MetadataBytes();
    const bool done = PageMap::Reserve(page, pages);
    MALLOW_CHECK(!done || page + pages <= kEnd);
    MALLOW_CHECK(PageMap::MetadataBytes() >= before);
    if (!done) return;
    for (PageId leaf = page >> internal::kLeafBits; leaf <= (page + pages - 1) >> internal::kLeafBits;
         ++leaf) {
      reserved_[leaf] = true;
    }
  }

  bool IsReserved(PageId page, Pages pages) {
    return page + pages <= kEnd && reserved_[page >> internal::kLeafBits] &&
           reserved_[(page + pages - 1) >> internal::kLeafBits];
  }

  Entry ModelOf(PageId page) const {
    const auto found = model_.find(page);
    return found == model_.end() ? Entry{} : found->second;
  }

  void CheckResident(PageId page, Pages pages) {
    Pages resident = 0;
    for (Pages i = 0; i < pages; ++i) resident += ModelOf(page + i).state == PageState::kResident;
    MALLOW_CHECK(PageMap::CountResident(page, pages) == resident);
  }

  void CheckRun(PageId page, Pages pages) {
    Pages length = 1;
    while (length < pages && ModelOf(page + length).state == ModelOf(page).state) ++length;
    MALLOW_CHECK(PageMap::RunLength(page, pages) == length);
  }

  void CheckAround(PageId anchor) {
    const PageId first = anchor - Min<PageId>(anchor, kAround);
    for (PageId page = first; page < first + 3 * kAround; ++page) {
      const Entry expected = ModelOf(page);
      MALLOW_CHECK(PageMap::SpanOf(page) == expected.span && PageMap::StateOf(page) == expected.state);
      MALLOW_CHECK(PageMap::ClassOf(AddressOf(page)) == expected.size_class);
      MALLOW_CHECK(PageMap::ClassOf(AddressOf(page) + kPageBytes - 1) == expected.size_class);
    }
  }

  FuzzInput input_;
  std::map<PageId, Entry> model_;
  std::map<PageId, bool> reserved_;
  std::deque<Span> spans_;
};

}  // namespace
}  // namespace mallow::heap

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::heap::Game({data, size}).Play();
  return 0;
}
