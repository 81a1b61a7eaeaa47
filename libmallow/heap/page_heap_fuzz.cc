// PageHeap against a map of its live spans and what the program wrote into them, with a system that fails now and then.
#include <cstring>
#include <map>
#include <memory>

#include "base/fuzz.h"
#include "heap/fuzz_memory.h"
#include "heap/page_heap.h"

namespace mallow::heap {
namespace {

struct Live {
  Span* span;
  uint64_t mark;  // the first word of every page
};

class Game {
 public:
  explicit Game(FuzzInput input) : input_(input) {
    RewindableMemory::Install(input_.Below(65536));
    record_bytes_ = input_.OneIn(2) ? 0 : size_t{8} << input_.Below(3);
    heap_->SetRecordBytes(record_bytes_);
    if ((mapped_ = input_.OneIn(2))) {
      heap_->SetLeastMapped(1 + input_.Below(200));
      heap_->SetReleasePolicy({.at_once = 1});
    }
    Failures::Plan(input_.Below(65536), input_.OneIn(2) ? 0 : 2 + input_.Below(20));
  }

  void Play() {
    while (!input_.done()) {
      Step();
      CheckTotals();
    }
    Failures::Plan(0, 0);
    while (!live_.empty()) FreeOne(live_.begin());
    heap_->ReleaseDownTo(0);
    CheckTotals();
    const PageHeap::Totals totals = heap_->GetTotals();
    MALLOW_CHECK(totals.free == totals.system && totals.large == 0 && totals.large_count == 0);
    RewindableMemory::Rewind();
    os::ReplaceMemoryFunctions(nullptr);
  }

 private:
  using LiveMap = std::map<PageId, Live>;

  void Step() {
    switch (input_.Operation(18)) {
      case 0:
      case 1:
      case 2:
        return Born(heap_->AllocateSmall(1 + input_.Below(kClassCount - 1)));
      case 3:
      case 4:
      case 5:
        return AllocateLarge(1);
      case 6:
        return AllocateLarge(Pages{1} << input_.Below(10));
      case 7:
      case 8:
        return Resize();
      case 9:
        return Release();
      case 10:
        return AllocateMetadata();
      case 11:
        return AllocateGrowing();
      case 12:
        return Move();
      case 13:
        // What was mapped while all goes back at once may be kept when it is freed.
        if (mapped_) heap_->SetReleasePolicy({.at_once = input_.OneIn(2) ? 1 : size_t{64} << 20});
        return;
      default:
        if (!live_.empty()) FreeOne(Any());
    }
  }

  LiveMap::iterator Any() { return std::next(live_.begin(), static_cast<long>(input_.Below(live_.size()))); }

  // Rarely so long that it is released at once.
  Pages AnyLength() { return 1 + input_.Magnitude(pages_ < 2000 ? (input_.OneIn(255) ? 6000 : 200) : 8); }

  void AllocateLarge(Pages alignment) {
    const Pages pages = AnyLength();
    const auto growth = input_.OneIn(2) ? PageHeap::Growth::kAllowed : PageHeap::Growth::kInExchange;
    Span* span = heap_->AllocateLarge(pages, alignment, growth);
    MALLOW_CHECK(span == nullptr || span->page % alignment == 0);
    LargeBorn(span, pages);
  }

  void AllocateGrowing() {
    const Pages pages = AnyLength();
    LargeBorn(heap_->AllocateGrowing(pages), pages);
  }

  void LargeBorn(Span* span, Pages pages) {
    if (span == nullptr) return;
    MALLOW_CHECK(span->state == SpanState::kLarge && span->pages == pages);
    ++large_count_;
    large_ += pages;
    Born(span);
  }

  // The contents go to the new span, and the old one is freed.
  void Move() {
    if (live_.empty()) return;
    const auto old = Any();
    const auto [span, mark] = old->second;
    if (span->state != SpanState::kLarge) return;
    const Pages pages = span->pages + 1 + input_.Below(span->pages);
    Span* moved = heap_->MoveLarge(span, pages);
    CheckContents({moved == nullptr ? span : moved, mark}, span->pages);
    if (moved == nullptr) return;
    // What moved is no fresh memory: it must not be looked at as such.
    Write(moved->page, moved->end(), 0);
    LargeBorn(moved, pages);
    Died(old);
    heap_->Free(span);
  }

  // Null is the answer to a failure of the system only; the totals are compared after every step.
  void Born(Span* span) {
    if (span == nullptr) return;
    const auto behind = live_.lower_bound(span->page);
    MALLOW_CHECK(behind == live_.end() || span->end() <= behind->first);
    MALLOW_CHECK(behind == live_.begin() || std::prev(behind)->second.span->end() <= span->page);
    MALLOW_CHECK(RewindableMemory::Holds(span->start(), span->pages * kPageBytes));
    if (span->state == SpanState::kSmall) CheckSmall(span);
    MALLOW_CHECK((span->records != nullptr) == (record_bytes_ != 0));
    const bool mapped = span->state == SpanState::kLarge && span->mapped;
    for (PageId page = span->page; page < span->end(); ++page) {
      const uint64_t* word = reinterpret_cast<const uint64_t*>(AddressOf(page));
      const bool within = page != span->page && page != span->end() - 1;
      MALLOW_CHECK((PageMap::StateOf(page) == PageState::kForeign) == (mapped && within));
      MALLOW_CHECK(PageMap::StateOf(page) != PageState::kClean || (word[0] == 0 && word[kWords - 1] == 0));
    }
    pages_ += span->pages;
    live_[span->page] = {span, ++marks_};
    Write(span->page, span->end(), marks_);
  }

  void CheckSmall(Span* span) {
    const SizeClassInfo& info = Info(span->size_class);
    ++small_spans_[span->size_class];
    MALLOW_CHECK(span->pages == info.pages && span->objects == info.objects &&
                 span->free_objects == info.objects);
    for (PageId page = span->page; page < span->page + span->marked_pages(); ++page) {
      MALLOW_CHECK(PageMap::SpanOf(page) == span && PageMap::ClassOf(AddressOf(page)) == span->size_class);
    }
    if (span->records != nullptr) memset(span->records, 0xa5, info.objects * record_bytes_);
    for (uint32_t i = 0; i < span->objects; i += Max(1u, span->objects / 5)) CheckRecord(span, i);
    for (uint32_t i = 0; i < span->objects; ++i) MALLOW_CHECK(span->free_bits[i / 64] >> (i % 64) & 1);
  }

  void CheckRecord(const Span* span, uint32_t object) {
    const char* const start = span->start() + size_t{object} * span->object_bytes;
    const RecordedObject found = RecordMap::At<1>(start);
    MALLOW_CHECK(span->records == nullptr || !RecordMap::HasNone(start));
    if (span->records == nullptr || !internal::record_window.Reaches(start)) {
      MALLOW_CHECK(found.size_class == 0);
    } else {
      MALLOW_CHECK(found.size_class == span->size_class && found.record == span->records + object);
      MALLOW_CHECK(RecordMap::OfObject<1>(start, found.size_class).record == found.record);
      MALLOW_CHECK(RecordMap::At<1>(start + 1 + input_.Below(span->object_bytes - 1)).size_class == 0);
    }
  }

  void FreeOne(LiveMap::iterator live) {
    Span* span = live->second.span;
    CheckContents(live->second, span->pages);
    const PageId page = span->page;
    Died(live);
    heap_->Free(span);
    MALLOW_CHECK(PageMap::ClassOf(AddressOf(page)) == 0);
    MALLOW_CHECK(RecordMap::At<1>(AddressOf(page)).size_class == 0);
  }

  void Died(LiveMap::iterator live) {
    const Span* span = live->second.span;
    if (span->state == SpanState::kLarge) {
      --large_count_;
      large_ -= span->pages;
    } else {
      --small_spans_[span->size_class];
    }
    pages_ -= span->pages;
    live_.erase(live);
  }

  void Resize() {
    if (live_.empty()) return;
    const auto& [page, live] = *Any();
    if (live.span->state != SpanState::kLarge) return;
    const Pages before = live.span->pages;
    const Pages wanted = 1 + input_.Below(before * 2);
    const bool done = heap_->Resize(live.span, wanted);
    MALLOW_CHECK(live.span->page == page && live.span->pages == (done ? wanted : before));
    CheckContents(live, Min(before, live.span->pages));
    const auto behind = live_.upper_bound(page);
    MALLOW_CHECK(behind == live_.end() || live.span->end() <= behind->first);
    large_ += live.span->pages - before;
    pages_ += live.span->pages - before;
    Write(page, live.span->end(), live.mark);
  }

  void Release() {
    const Pages keep = input_.Magnitude(10000);
    const PageHeap::Totals before = heap_->GetTotals();
    const bool some = heap_->ReleaseDownTo(keep);
    const PageHeap::Totals after = heap_->GetTotals();
    MALLOW_CHECK(some == (after.free - after.returned < before.free - before.returned));
  }

  void AllocateMetadata() {
    const size_t bytes = 1 + input_.Magnitude(5000);
    auto* p = static_cast<unsigned char*>(heap_->AllocateMetadata(bytes, size_t{1} << input_.Below(8)));
    if (p == nullptr) return;
    MALLOW_CHECK(RewindableMemory::Holds(p, bytes) && p[0] == 0 && p[bytes - 1] == 0);
    memset(p, 0x5a, bytes);
  }

  void Write(PageId begin, PageId end, uint64_t mark) {
    for (PageId page = begin; page < end; ++page) {
      uint64_t* word = reinterpret_cast<uint64_t*>(AddressOf(page));
      word[0] = word[kWords - 1] = mark;
    }
  }

  void CheckContents(const Live& live, Pages pages) {
    for (PageId page = live.span->page; page < live.span->page + pages; ++page) {
      const uint64_t* word = reinterpret_cast<const uint64_t*>(AddressOf(page));
      MALLOW_CHECK(word[0] == live.mark && word[kWords - 1] == live.mark);
    }
  }

  void CheckTotals() {
    const PageHeap::Totals totals = heap_->GetTotals();
    MALLOW_CHECK(totals.large == large_ && totals.large_count == large_count_);
    MALLOW_CHECK(totals.free + pages_ == totals.system && totals.returned <= totals.free);
    MALLOW_CHECK(totals.system * kPageBytes <= RewindableMemory::mapped_bytes());
    for (SizeClass c = 1; c < kClassCount; ++c) MALLOW_CHECK(totals.small_spans[c] == small_spans_[c]);
    MALLOW_CHECK(heap_->IsValid());
  }

  static constexpr size_t kWords = kPageBytes / sizeof(uint64_t);

  FuzzInput input_;
  const std::unique_ptr<PageHeap> heap_ = std::make_unique<PageHeap>();
  size_t record_bytes_ = 0;
  bool mapped_ = false;
  LiveMap live_;
  uint64_t marks_ = 0;
  Pages pages_ = 0;
  Pages large_ = 0;
  size_t large_count_ = 0;
  size_t small_spans_[kClassCount] = {};
};

}  // namespace
}  // namespace mallow::heap

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mallow::heap::Game({data, size}).Play();
  return 0;
}
