#include "record/event_stream.h"

#include <string.h>

#include "base/bits.h"
#include "os/clock.h"
#include "record/event_log.h"

namespace mallow::record {
namespace {

// The longest record, and what a store of a word writes beyond it.
constexpr uint32_t kRecordRoom = 64;
// A record of the clock every so many stamps, which are a tenth of a second or so; a stamp's difference then fits in
// 4 bytes.
constexpr uint64_t kRebase = 1u << 26;

unsigned BytesOf(uint64_t value) { return value == 0 ? 0 : static_cast<unsigned>(Log2Floor(value)) / 8 + 1; }

// Blocks lie at multiples of 8 bytes.
uint64_t Difference(uint64_t address, uint64_t from) {
  const int64_t words = static_cast<int64_t>(address - from) >> 3;
  return static_cast<uint64_t>(words) << 1 ^ static_cast<uint64_t>(words >> 63);
}

uint64_t AddressOf(const void* p) { return reinterpret_cast<uintptr_t>(p); }

}  // namespace

// A record in the making. Fields are added in the order of the format.
class EventStream::Record {
 public:
  Record(LogBlock* block, LogKind kind)
      : block_(block),
        start_(reinterpret_cast<char*>(block) + block->used),
        next_(start_ + sizeof(uint16_t)),
        head_(static_cast<uint32_t>(kind)) {}

  void AddStamp(uint64_t difference) {
    const unsigned bytes = BytesOf(difference | 1);
    head_ |= (bytes - 1) << 3;
    Put(difference, bytes);
  }
  void AddPlace(uint32_t place, uint32_t predicted) {
    if (place == predicted) return;
    const unsigned code = place < 1u << 8 ? 1 : place < 1u << 16 ? 2 : 3;
    head_ |= code << 5;
    Put(place, code == 3 ? 4 : code);
  }
  void AddSize(uint64_t size, uint64_t predicted) {
    if (size == predicted) return;
    const unsigned code = size < 1u << 8 ? 1 : size < 1u << 16 ? 2 : 3;
    head_ |= code << 7;
    Put(size, code == 3 ? 8 : code);
  }
  void AddAddress(uint64_t difference) {
    const unsigned bytes = BytesOf(difference);
    head_ |= bytes << 9;
    Put(difference, bytes);
  }
  void AddOldAddress(uint64_t difference) {
    const unsigned bytes = BytesOf(difference);
    head_ |= bytes << 12;
    Put(difference, bytes);
  }
  void AddAge(uint64_t age) {
    head_ |= 1u << 15 | 1u << 12;
    Put(age, 1);
  }
  void AddArgument(uint64_t argument) {
    const unsigned bytes = BytesOf(argument);
    Put(bytes, 1);
    Put(argument, bytes);
  }
  void AddControl(LogControl control) { head_ |= static_cast<uint32_t>(control) << 3; }
  void Put(uint64_t value, unsigned bytes) {
    memcpy(next_, &value, sizeof(value));
    next_ += bytes;
  }
  void End() {
    const auto head = static_cast<uint16_t>(head_);
    memcpy(start_, &head, sizeof(head));
    const auto used = static_cast<uint32_t>(next_ - reinterpret_cast<char*>(block_));
    __atomic_store_n(&block_->used, used, __ATOMIC_RELEASE);
  }

 private:
  LogBlock* const block_;
  char* const start_;
  char* next_;
  uint32_t head_;
};

void EventStream::Begin(EventStream** holder, uint32_t number) {
  holder_ = holder;
  number_ = number;
  tid_ = 0;
  block_ = nullptr;
}

void EventStream::SetThread(uint32_t tid) {
  if (tid == tid_) return;
  tid_ = tid;
  if (block_ != nullptr) AddThread();
}

void EventStream::AddThread() {
  // What does not fit is said by the header of the next block.
  if (block_->used + kRecordRoom > kLogBlockBytes) return;
  Record record(block_, LogKind::kControl);
  record.AddControl(LogControl::kThread);
  record.Put(tid_, 4);
  record.End();
}

bool EventStream::Prepare(uint64_t stamp, uint64_t events, uint32_t weight) {
  if (MALLOW_UNLIKELY(block_ == nullptr || block_->used + 2 * kRecordRoom > kLogBlockBytes)) {
    return NewBlock(stamp, events - weight);
  }
  if (MALLOW_UNLIKELY(stamp - base_stamp_ >= kRebase || g_event_log.clock() != LogClock::kCycleCounter)) {
    Rebase(stamp);
  }
  return true;
}

bool EventStream::NewBlock(uint64_t stamp, uint64_t first_event) {
  const uint64_t now = os::MonotonicNanoseconds();
  uint32_t number;
  LogBlock* block = g_event_log.TakeBlock(stamp, &number);
  if (block == nullptr) {
    *holder_ = nullptr;
    return false;
  }
  block->stream = number_;
  block->tid = tid_;
  block->first = block_ == nullptr;
  block->stamp = stamp_ = base_stamp_ = stamp;
  block->ns = base_ns_ = now;
  __atomic_store_n(&block->used, static_cast<uint32_t>(sizeof(LogBlock)), __ATOMIC_RELEASE);
  if (block_ != nullptr) __atomic_store_n(&block_->next, number, __ATOMIC_RELEASE);
  block_ = block;
  first_event_ = first_event;
  address_ = 0;
  memset(births_, 0, sizeof(births_));
  memset(deaths_, 0, sizeof(deaths_));
  last_ = &births_[0];
  return true;
}

void EventStream::Rebase(uint64_t stamp) {
  const bool cycles = g_event_log.clock() == LogClock::kCycleCounter;
  const uint64_t now = cycles ? os::MonotonicNanoseconds() : os::CoarseNanoseconds();
  if (!cycles && now <= base_ns_ && stamp - base_stamp_ < kRebase) return;
  Record record(block_, LogKind::kControl);
  record.AddControl(LogControl::kClock);
  record.Put(stamp, 8);
  record.Put(now, 8);
  record.End();
  stamp_ = base_stamp_ = stamp;
  base_ns_ = now;
}

// 0 when the block was born elsewhere, before this block of the log, or too long ago.
uint64_t EventStream::AgeOf(uint64_t clock, uint64_t events) const {
  if (clock == kNoClock) return 0;
  const uint64_t age = static_cast<uint32_t>(events) - static_cast<uint32_t>(clock);
  return age <= kLogLongestAge && age < events - first_event_ ? age : 0;
}

EventStream::Place& EventStream::Find(Place (&places)[kLogPlaces], uint32_t name) {
  Place& place = places[name % kLogPlaces];
  if (MALLOW_UNLIKELY(place.name != name + 1)) place = {address_, 0, name + 1, 0};
  return place;
}

// A record of an event, as far as its place.
EventStream::Record EventStream::Start(LogKind kind, uint64_t stamp, uint32_t place) {
  Record record(block_, kind);
  record.AddStamp(stamp - stamp_);
  stamp_ = stamp;
  record.AddPlace(place, last_->next);
  last_->next = place;
  return record;
}

// The block that the event ends.
void EventStream::AddOld(Record* record, const void* block, uint64_t clock, uint64_t events,
                         const Place& place) const {
  if (const uint64_t age = AgeOf(clock, events); age != 0) {
    record->AddAge(age);
  } else {
    record->AddOldAddress(Difference(AddressOf(block), place.address));
  }
}

void EventStream::Birth(StackId stack, size_t bytes, const void* block, uint64_t argument, uint64_t events) {
  const uint64_t stamp = g_event_log.Stamp();
  if (!Prepare(stamp, events, 1)) return;
  const uint32_t name = StackIndex(stack);
  Record record = Start(argument == 0 ? LogKind::kBirth : LogKind::kBirthWithArgument, stamp, name);
  Place& place = Find(births_, name);
  record.AddSize(bytes, place.size);
  record.AddAddress(Difference(AddressOf(block), place.address));
  if (argument != 0) record.AddArgument(argument);
  record.End();
  place.size = bytes;
  place.address = address_ = AddressOf(block);
  last_ = &place;
}

void EventStream::Death(NodeId caller, const void* block, uint64_t clock, uint64_t events) {
  const uint64_t stamp = g_event_log.Stamp();
  if (!Prepare(stamp, events, 1)) return;
  Record record = Start(LogKind::kDeath, stamp, caller);
  Place& place = Find(deaths_, caller);
  AddOld(&record, block, clock, events, place);
  record.End();
  place.address = address_ = AddressOf(block);
  last_ = &place;
}

void EventStream::Move(StackId stack, const void* old, uint64_t clock, size_t bytes, const void* block,
                       uint64_t events) {
  const uint64_t stamp = g_event_log.Stamp();
  if (!Prepare(stamp, events, 2)) return;
  const uint32_t name = StackIndex(stack);
  Record record = Start(LogKind::kMove, stamp, name);
  Place& place = Find(births_, name);
  record.AddSize(bytes, place.size);
  record.AddAddress(Difference(AddressOf(block), AddressOf(old)));
  AddOld(&record, old, clock, events, place);
  record.End();
  place.size = bytes;
  place.address = address_ = AddressOf(block);
  last_ = &place;
}

void EventStream::Failure(StackId stack, size_t bytes, uint64_t events) {
  const uint64_t stamp = g_event_log.Stamp();
  if (!Prepare(stamp, events, 0)) return;
  const uint32_t name = StackIndex(stack);
  Record record = Start(LogKind::kFailure, stamp, name);
  Place& place = Find(births_, name);
  record.AddSize(bytes, place.size);
  record.End();
  place.size = bytes;
  last_ = &place;
}

void EventStream::NullRelease(NodeId caller, uint64_t events) {
  const uint64_t stamp = g_event_log.Stamp();
  if (!Prepare(stamp, events, 0)) return;
  Record record = Start(LogKind::kNullRelease, stamp, caller);
  last_ = &Find(deaths_, caller);
  record.End();
}

}  // namespace mallow::record
