#include "record/timeline.h"

#include <initializer_list>

#include "record/process.h"
#include "record/thread_recorder.h"

namespace mallow::record {
namespace {

constexpr uint32_t kFirstEvents = 256;
constexpr uint32_t kFirstMs = 100;

int32_t Saturated(int64_t bytes) {
  return bytes > INT32_MAX ? INT32_MAX : bytes < INT32_MIN ? INT32_MIN : static_cast<int32_t>(bytes);
}

}  // namespace

// The newcomer takes over the volume: else two that come by turns would drive each other out for ever.
MALLOW_NOINLINE void Changes::Replace(uint32_t stack, int64_t bytes) {
  int least = 0;
  for (int i = 1; i < kPlaces; i++) {
    if (volume_[i] < volume_[least]) least = i;
  }
  least_ = volume_[least];
  if (others_ < least_) return;
  others_ = 0;
  stacks_[least] = stack;
  net_[least] = bytes;
  volume_[least] += Volume(bytes);
}

void Changes::Report(TimelineSample::Change (&greatest)[4]) const {
  for (TimelineSample::Change& change : greatest) change = {};
  for (int i = 0; i < kPlaces; i++) {
    TimelineSample::Change next = {stacks_[i], Saturated(net_[i])};
    for (TimelineSample::Change& change : greatest) {
      if (Volume(next.bytes) <= Volume(change.bytes)) continue;
      const TimelineSample::Change lesser = change;
      change = next;
      next = lesser;
    }
  }
}

void Timeline::StartIn(Header* header) {
  header_ = header;
  header->timeline_events = kFirstEvents;
  header->timeline_ms = kFirstMs;
  next_ms_ = kFirstMs;
  full_ = false;
  for (TimelineSample*& page : pages_) page = nullptr;
}

TimelineSample* Timeline::At(uint32_t item) {
  TimelineSample*& page = pages_[item / kCountersPerPage];
  if (page == nullptr) {
    page = reinterpret_cast<TimelineSample*>(
        g_process.NewCounterPage(g_process.session(), g_process.first_shard(), CounterKind::kTimeline, item));
  }
  return page == nullptr ? nullptr : page + item % kCountersPerPage;
}

void Timeline::Take(ThreadRecorder& thread) {
  if (!lock_.TryLock()) return;
  if (thread.session == g_process.session()) AddSample(thread);
  lock_.Unlock();
}

void Timeline::AddSample(ThreadRecorder& thread) {
  if (header_->timeline_used == kTimelineSamples) Halve();
  if (TimelineSample* sample = full_ ? nullptr : At(header_->timeline_used); sample != nullptr) {
    const Process::Sums sums = g_process.SumUp();
    sample->ms = thread.now_ms;
    sample->stacks = g_process.stacks().stack_count();
    sample->births = sums.births;
    sample->live_blocks = sums.live_blocks;
    sample->live_bytes = sums.live_bytes;
    thread.changes.Report(sample->changes);
    thread.changes.Clear();
    __atomic_store_n(&header_->timeline_used, header_->timeline_used + 1, __ATOMIC_RELEASE);
  } else {
    full_ = true;
  }
  thread.events_at_sample = thread.shard->events;
  __atomic_store_n(&next_ms_, thread.now_ms + header_->timeline_ms, __ATOMIC_RELAXED);
}

// A reader that comes by sees samples that go back behind others, and leaves those out.
MALLOW_ALIGNS_STACK void Timeline::Halve() {
  for (uint32_t i = 0; i < kTimelineSamples / 2; i++) {
    const TimelineSample& former = *At(2 * i);
    TimelineSample later = *At(2 * i + 1);
    Changes changes = {};
    for (const TimelineSample* sample : {&former, const_cast<const TimelineSample*>(&later)}) {
      for (const TimelineSample::Change& change : sample->changes) {
        if (change.bytes != 0) changes.Add(change.stack, change.bytes);
      }
    }
    changes.Report(later.changes);
    *At(i) = later;
  }
  __atomic_store_n(&header_->timeline_events, header_->timeline_events * 2, __ATOMIC_RELAXED);
  header_->timeline_ms *= 2;
  __atomic_store_n(&header_->timeline_used, kTimelineSamples / 2, __ATOMIC_RELEASE);
}

}  // namespace mallow::record
