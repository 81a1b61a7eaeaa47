// FreePages against a map of its spans by address and a list of them by age.
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "base/fuzz.h"
#include "heap/free_pages.h"
#include "heap/page_map.h"

namespace mallow::heap {
namespace {

// Nobody looks at the memory of a page here, only at what the page map says of it.
constexpr PageId kFirst = PageId{0x2345} << internal::kLeafBits;
constexpr Pages kPages = 20000;

class Game {
 public:
  explicit Game(FuzzInput input) : input_(input) { MALLOW_CHECK(PageMap::Reserve(kFirst, kPages)); }

  void Play() {
    while (!input_.done()) {
      Step();
      Check();
    }
    while (!spans_.empty()) Remove(spans_.begin()->second);
    Check();
  }

 private:
  void Step() {
    switch (input_.Operation(9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Insert();
      case 4:
        if (!spans_.empty()) Remove(Any());
        return;
      case 5: {
        // As the page heap does: what fits best is taken.
        const Pages wanted = 1 + input_.Magnitude(2000);
        Span* found = free_->FindBestFit(wanted);
        CheckBestFit(found, wanted);
        if (found != nullptr) Remove(found);
        return;
      }
      case 6: {
        const Pages wanted = 1 + input_.Magnitude(3000);
        return CheckBestFit(free_->FindBestFit(wanted), wanted);
      }
      case 7: {
        const Pages wanted = 1 + input_.Magnitude(2000);
        return CheckResident(wanted, wanted + input_.Magnitude(500));
      }
      default:
        return Release();
    }
  }

  Span* Any() { return std::next(spans_.begin(), static_cast<long>(input_.Below(spans_.size())))->second; }

  // A span that touches no other one.
  void Insert() {
    const PageId page = kFirst + 1 + input_.Below(kPages - 2);
    const auto behind = spans_.lower_bound(page);
    if (behind != spans_.begin() && std::prev(behind)->second->end() >= page) return;
    const PageId limit = behind == spans_.end() ? kFirst + kPages - 1 : behind->first - 1;
    if (page >= limit) return;
    Span* span = &storage_.emplace_back();
    span->page = page;
    span->pages = Min<Pages>(limit - page, 1 + input_.Magnitude(2000));
    const Pages resident = input_.Below(span->pages + 1);
    PageMap::SetState(page, span->pages, PageState::kClean);
    PageMap::SetState(page, resident, PageState::kResident);
    PageMap::SetSpan(page, span);
    PageMap::SetSpan(span->end() - 1, span);
    span->free.resident = resident;
    free_->Insert(span);
    spans_[page] = span;
    if (resident > 0) by_age_.push_front(span);
  }

  void Remove(Span* span) {
    free_->Remove(span);
    by_age_.remove(span);
    spans_.erase(span->page);
  }

  // Some of the oldest span goes back; it may be that no more of it can.
  void Release() {
    Span* span = free_->Oldest();
    if (span == nullptr) return;
    const Pages resident = PageMap::CountResident(span->page, span->pages);
    const Pages freed = input_.Below(resident + 1);
    const bool finished = input_.OneIn(2);
    // The resident pages are the first ones.
    PageMap::SetState(span->page + resident - freed, freed, PageState::kClean);
    free_->Released(span, freed, finished);
    if (finished || freed == resident) by_age_.remove(span);
  }

  // The shortest that is long enough, among equal long ones the lowest.
  void CheckBestFit(const Span* found, Pages wanted) {
    constexpr Pages kFirstLong = 128;
    const Span* best = nullptr;
    for (const auto& [page, span] : spans_) {
      if (span->pages >= wanted && (best == nullptr || span->pages < best->pages)) best = span;
    }
    MALLOW_CHECK((found == nullptr) == (best == nullptr));
    MALLOW_CHECK(found == best || (found->pages == best->pages && best->pages < kFirstLong));
  }

  // The place with the most memory, of those that are looked at. All memory of a span lies at its start.
  void CheckResident(Pages pages, Pages room) {
    constexpr size_t kMostSpans = 16;
    std::vector<Span*> spans(by_age_.begin(), std::next(by_age_.begin(), Min(by_age_.size(), kMostSpans)));
    if (Span* longest = free_->Longest()) spans.push_back(longest);
    Pages most = 0;
    for (const Span* span : spans) {
      if (span->pages >= room) most = Max(most, PageMap::CountResident(span->page, pages));
    }
    const FreePages::Place place = free_->FindResident(pages, room, 1);
    MALLOW_CHECK((place.span == nullptr) == (most == 0));
    if (most == 0) return;
    MALLOW_CHECK(place.lead + room <= place.span->pages);
    MALLOW_CHECK(PageMap::CountResident(place.span->page + place.lead, pages) == most);
    MALLOW_CHECK(free_->FindResident(pages, room, most).span == place.span);
    MALLOW_CHECK(free_->FindResident(pages, room, most + 1).span == nullptr);
  }

  void Check() {
    Pages pages = 0, resident = 0;
    for (const auto& [page, span] : spans_) {
      pages += span->pages;
      resident += PageMap::CountResident(page, span->pages);
    }
    MALLOW_CHECK(free_->pages() == pages && free_->resident() == resident && free_->spans() == spans_.size());
    MALLOW_CHECK(free_->Oldest() == (by_age_.empty() ? nullptr : by_age_.back()));
    MALLOW_CHECK(free_->IsValid());
  }

  FuzzInput input_;
  const std::unique_ptr<FreePages> free_ = std::make_unique<FreePages>();
  std::deque<Span> storage_;
  std::map<PageId, Span*> spans_;
  std::list<Span*> by_age_;  // newest first
};

}  // namespace
}  // namespace mallow::heap

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::heap::Game({data, size}).Play();
  return 0;
}
