// The record map: where the side records of small objects lie, by the page in which an object starts.
//
// A client that asks at every malloc and at every free would wait for the page map, then for the span that it names, then
// for the record that the span names. Here one word of a window names the records, and what else it takes are constants of
// the class. A word of 0 says nothing, unless the window knows of its page (KnowsOf): then the span is to be asked.
//
// Invariant: a page has a word only while it carries the class of a small span that has side records; those stay where they
// are as long as the span is small.
//
// Synchronisation: as the page map. Who finds no word may be too early for records that another thread is just making.
#pragma once

#include "base/config.h"
#include "heap/page_window.h"
#include "heap/pages.h"
#include "heap/size_class.h"
#include "heap/span.h"

namespace mallow::heap {
namespace internal {

// 64 GiB.
inline constexpr Pages kRecordWindowPages = 8 * 1024 * 1024;
using RecordWindow = PageWindow<uint64_t, kRecordWindowPages>;
extern MALLOW_INTERNAL RecordWindow record_window;

// From the lowest byte on: the lowest of the number of the span's first page; the class; the span's first record.
struct RecordWord {
  static constexpr int kRecordsShift = 16, kClassShift = 8;
  static constexpr Pages kMostPages = 256;

  explicit operator bool() const { return bits != 0; }
  SizeClass size_class() const { return static_cast<uint8_t>(bits >> kClassShift); }
  char* records() const { return reinterpret_cast<char*>(bits >> kRecordsShift); }
  // Of an address in the span: of what lies above the lowest byte nothing is left.
  uint64_t OffsetOf(const void* p) const {
    return (reinterpret_cast<uintptr_t>(p) - (bits << kPageShift)) % (kMostPages * kPageBytes);
  }

  uint64_t bits;
};
static_assert(kClassCount <= 256 && kAddressBits <= 48);

}  // namespace internal

// A small object and its side record.
struct RecordedObject {
  char* record;
  SizeClass size_class;  // 0: it is none, or has none

  size_t bytes() const { return Info(size_class).bytes; }
};

class RecordMap {
 public:
  // What starts at any address. Where nothing is found the span may know more.
  template <size_t kRecordBytes>
  static MALLOW_ALWAYS_INLINE RecordedObject At(const void* p) {
    const internal::RecordWord word{internal::record_window.Of(p)};
    if (MALLOW_UNLIKELY(!word)) return {};
    const SizeClassInfo& info = Info(word.size_class());
    const uint64_t offset = word.OffsetOf(p);
    const uint64_t index = offset * info.reciprocal >> 32;
    if (MALLOW_UNLIKELY(index * info.bytes != offset) || MALLOW_UNLIKELY(index >= info.objects)) return {};
    const SizeClass size_class = word.size_class();
    if (size_class == 0) __builtin_unreachable();
    return {word.records() + index * kRecordBytes, size_class};
  }
  // The same for a small object that the caller holds. Knowing the class, it need not wait for the word to name it.
  template <size_t kRecordBytes>
  static MALLOW_ALWAYS_INLINE RecordedObject OfObject(const void* p, SizeClass size_class) {
    const internal::RecordWord word{internal::record_window.Of(p)};
    if (MALLOW_UNLIKELY(!word)) return {};
    char* const records = word.records();
    if (records == nullptr) __builtin_unreachable();
    return {records + (word.OffsetOf(p) * Info(size_class).reciprocal >> 32) * kRecordBytes, size_class};
  }

  // Whether the small object there has no side record. False: the span is to be asked. Never true of an object that was given
  // one by At or by MakeRecord, for whom it is handed to.
  static MALLOW_ALWAYS_INLINE bool HasNone(const void* p) {
    return internal::record_window.KnowsOf(p) && internal::record_window.Of(p) == 0;
  }

  // Both for a small span with side records, under the page heap's lock.
  static void Enter(const Span& span);
  static void Remove(const Span& span);

  // As PageMap's.
  static size_t MetadataBytes() { return internal::record_window.MetadataBytes(); }
  static size_t ResidentBytes() { return internal::record_window.ResidentBytes(); }
};

}  // namespace mallow::heap
