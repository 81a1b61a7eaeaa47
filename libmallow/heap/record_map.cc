#include "heap/record_map.h"

namespace mallow::heap {
namespace internal {

RecordWindow record_window;

}  // namespace internal

namespace {

constexpr bool SpansAreShort() {
  for (SizeClass c = 1; c < kClassCount; ++c) {
    if (internal::kSizeClasses.info[c].pages > internal::RecordWord::kMostPages) return false;
  }
  return true;
}
static_assert(SpansAreShort());

}  // namespace

void RecordMap::Enter(const Span& span) {
  const uint64_t word = reinterpret_cast<uintptr_t>(span.records) << internal::RecordWord::kRecordsShift |
                        span.size_class << internal::RecordWord::kClassShift |
                        span.page % internal::RecordWord::kMostPages;
  internal::record_window.Open(span.page, span.marked_pages());
  for (Pages i = 0; i < span.marked_pages(); ++i) internal::record_window.Set(span.page + i, word);
}

void RecordMap::Remove(const Span& span) {
  for (Pages i = 0; i < span.marked_pages(); ++i) internal::record_window.Set(span.page + i, 0);
}

}  // namespace mallow::heap
