#include "heap/central_list.h"

#include <string.h>

#include "heap/damage.h"
#include "heap/page_heap.h"
#include "heap/page_map.h"
#include "heap/reclaim.h"

namespace mallow::heap {

namespace {

constexpr uint64_t kEverySecond = 0x5555555555555555u;
constexpr uint64_t kEveryFourth = 0x1111111111111111u;

// Spans in which whole lines are looked for.
constexpr int kSpansTried = 8;

// Of the bits, those of which all others of the same cache lines are set too.
uint64_t WholeLines(uint64_t bits, size_t objects) {
  if (objects >= 2) bits &= (bits >> 1 & kEverySecond) | (bits & kEverySecond) << 1;
  if (objects >= 4) {
    const uint64_t pairs = bits & bits >> 2 & kEveryFourth;
    bits = pairs | pairs << 1 | pairs << 2 | pairs << 3;
  }
  return bits;
}

// Moves free objects out of the span, lowest address first, to [..., end). Returns the new end.
void** TakeFromSpan(Span* span, void** begin, void** end, size_t line_objects = 1) {
  const size_t words = DivideUp(span->objects, 64);
  char* const start = span->start();
  void** next = end;
  for (size_t word = 0; word < words && next != begin; ++word) {
    const uint64_t free = WholeLines(span->free_bits[word], line_objects);
    uint64_t bits = free;
    while (bits != 0 && next != begin) {
      const size_t index = word * 64 + static_cast<size_t>(CountTrailingZeros(bits));
      bits &= bits - 1;
      *--next = start + index * span->object_bytes;
    }
    span->free_bits[word] ^= free ^ bits;
  }
  span->free_objects = static_cast<uint16_t>(span->free_objects - (end - next));
  span->given_back = span->trimmed = 0;
  return next;
}

// How many of the objects follow one another in memory, from the first on. Some are compared without a branch for each.
MALLOW_NOINLINE size_t LongNeighbours(void* const* objects, size_t count, size_t bytes) {
  constexpr size_t kAtOnce = 8;
  const auto at = [objects](size_t i) { return reinterpret_cast<uintptr_t>(objects[i]); };
  uintptr_t next = at(0);
  size_t length = 0;
  for (; count - length >= kAtOnce; length += kAtOnce, next += kAtOnce * bytes) {
    uintptr_t differ = 0;
    for (size_t i = 0; i < kAtOnce; ++i) differ |= at(length + i) ^ (next + i * bytes);
    if (differ != 0) break;
  }
  for (; length < count && at(length) == next; ++length) next += bytes;
  return length;
}

// The same; of those that lie in no order there is one at a time.
size_t Neighbours(void* const* objects, size_t count, size_t bytes) {
  const bool alone = count == 1 || static_cast<char*>(objects[0]) + bytes != objects[1];
  return alone ? 1 : LongNeighbours(objects, count, bytes);
}

size_t FreeBits(const Span* span) {
  size_t bits = 0;
  for (size_t i = 0; i < span->objects; ++i) bits += span->free_bits[i / 64] >> (i % 64) & 1;
  return bits;
}

}  // namespace

size_t CentralList::Take(void** slots, size_t count) {
  void** next = slots + count;
  __atomic_store_n(&fetched_, true, __ATOMIC_RELAXED);
  while (next != slots && !spans_.empty()) {
    Span* span = spans_.first();
    next = TakeFromSpan(span, slots, next);
    if (span->free_objects == 0) spans_.Remove(span);
  }
  const size_t taken = static_cast<size_t>(slots + count - next);
  __atomic_store_n(&free_objects_, free_objects_ - taken, __ATOMIC_RELAXED);
  return taken;
}

size_t CentralList::Fetch(SizeClass size_class, void** slots, size_t count) {
  {
    SpinlockHolder holder(lock_);
    const size_t taken = Take(slots, count);
    if (taken > 0) return taken;
  }
  Span* span = page_heap.AllocateSmall(size_class, PageHeap::Growth::kForbidden);
  if (MALLOW_UNLIKELY(span == nullptr)) {
    if (MakeRoom()) {
      SpinlockHolder holder(lock_);
      const size_t taken = Take(slots, count);
      if (taken > 0) return taken;
    }
    span = page_heap.AllocateSmall(size_class);
    if (span == nullptr) return 0;
  }
  SpinlockHolder holder(lock_);
  spans_.PushFront(span);
  __atomic_store_n(&free_objects_, free_objects_ + span->free_objects, __ATOMIC_RELAXED);
  return Take(slots, count);
}

size_t CentralList::FetchWholeLines(void** slots, size_t count) {
  SpinlockHolder holder(lock_);
  Span* span = spans_.first();
  for (int tries = 0; span != nullptr && tries < kSpansTried; ++tries, span = SpanList::Next(span)) {
    void** const next = TakeFromSpan(span, slots, slots + count, LineObjects(span->object_bytes));
    const size_t taken = static_cast<size_t>(slots + count - next);
    if (taken == 0) continue;
    if (span->free_objects == 0) spans_.Remove(span);
    __atomic_store_n(&free_objects_, free_objects_ - taken, __ATOMIC_RELAXED);
    memmove(slots, next, taken * sizeof(void*));
    return taken;
  }
  return 0;
}

// What was taken back so far counts.
void CentralList::Damaged(Span* span, const char* sentence, const void* object) {
  if (span != nullptr) {
    const bool listed = span->free_objects != 0;
    const size_t bits = FreeBits(span);
    span->free_objects = static_cast<uint16_t>(bits);
    if (!listed && bits != 0) spans_.PushBack(span);
  }
  lock_.Unlock();
  DieOfDamage(sentence, object);
}

// Objects that were used together lie together, mostly, so what is known of a span serves a run of them, objects that
// follow one another are found without a division, and the bits of a word stay in a register until they leave the word.
size_t CentralList::PutRun(void* const* objects, size_t count, SpanList* emptied) {
  Span* span = PageMap::SpanOf(PageOf(objects[0]));
  // One that was freed twice may have taken its whole span with it the first time.
  if (MALLOW_UNLIKELY(span == nullptr || span->state != SpanState::kSmall || !span->Contains(objects[0]))) {
    Damaged(nullptr, "free(): the block was freed twice", objects[0]);
  }
  size_t put = 0;
  uint64_t* word = nullptr;
  uint64_t bits = 0;
  while (put < count && span->Contains(objects[put])) {
    const int first = span->IndexOf(objects[put]);
    if (MALLOW_UNLIKELY(first < 0)) {
      if (word != nullptr) *word = bits;
      Damaged(span, "free(): the pointer is inside a block, not at its start", objects[put]);
    }
    size_t index = static_cast<size_t>(first);
    const size_t last =
        index + Neighbours(objects + put, Min(count - put, span->objects - index), span->object_bytes);
    put += last - index;
    while (index < last) {
      if (uint64_t* const its_word = &span->free_bits[index / 64]; its_word != word) {
        if (word != nullptr) *word = bits;
        word = its_word;
        bits = *word;
      }
      const size_t end = Min(last, RoundDown(index, size_t{64}) + 64);
      const uint64_t more = ~uint64_t{0} >> (64 - (end - index)) << (index % 64);
      if (MALLOW_UNLIKELY((bits & more) != 0)) {
        const size_t twice =
            RoundDown(index, size_t{64}) + static_cast<size_t>(CountTrailingZeros(bits & more));
        *word = bits;
        Damaged(span, "free(): the block was freed twice", span->start() + twice * span->object_bytes);
      }
      bits |= more;
      index = end;
    }
  }
  *word = bits;
  if (span->free_objects == 0) spans_.PushBack(span);
  span->free_objects = static_cast<uint16_t>(span->free_objects + put);
  if (span->free_objects == span->objects) {
    spans_.Remove(span);
    emptied->PushBack(span);
  }
  return put;
}

MALLOW_ALIGNS_STACK void CentralList::Release(void* const* objects, size_t count) {
  SpanList emptied;
  {
    SpinlockHolder holder(lock_);
    for (size_t i = 0; i < count;) i += PutRun(objects + i, count - i, &emptied);
    size_t gone = 0;
    for (Span* span = emptied.first(); span != nullptr; span = SpanList::Next(span)) gone += span->objects;
    __atomic_store_n(&free_objects_, free_objects_ + count - gone, __ATOMIC_RELAXED);
    __atomic_store_n(&released_, true, __ATOMIC_RELAXED);
  }
  while (Span* span = emptied.PopFront()) page_heap.Free(span);
}

// What is in use is left alone: those pages would come back at once.
void CentralList::GiveBackUnused() {
  if (__atomic_exchange_n(&fetched_, false, __ATOMIC_RELAXED) ||
      !__atomic_exchange_n(&released_, false, __ATOMIC_RELAXED)) {
    return;
  }
  SpinlockHolder holder(lock_);
  for (Span* span = spans_.first(); span != nullptr; span = SpanList::Next(span)) span->GiveBackUnused();
}

bool CentralList::GiveBackAll() {
  SpinlockHolder holder(lock_);
  bool some = false;
  for (Span* span = spans_.first(); span != nullptr; span = SpanList::Next(span)) some |= span->GiveBackAll();
  return some;
}

bool CentralList::IsValid(SizeClass size_class) {
  SpinlockHolder holder(lock_);
  if (!spans_.IsValid()) return false;
  size_t objects = 0;
  for (Span* span = spans_.first(); span != nullptr; span = SpanList::Next(span)) {
    const size_t bits = FreeBits(span);
    if (span->state != SpanState::kSmall || span->size_class != size_class || bits != span->free_objects ||
        bits == 0 || bits == span->objects || span->given_back > bits || span->trimmed > bits) {
      return false;
    }
    for (PageId page = span->page; page < span->page + span->marked_pages(); ++page) {
      if (PageMap::SpanOf(page) != span || PageMap::ClassOf(AddressOf(page)) != size_class) return false;
    }
    objects += bits;
  }
  return objects == free_objects_;
}

}  // namespace mallow::heap
