#include "record/traits.h"

#include <string.h>

#include "os/clock.h"
#include "record/process.h"

namespace mallow::record {
namespace {

template <typename T>
void Cast(Vote<T>& vote, uint32_t value, uint32_t weight) {
  if (vote.candidate == value) {
    vote.lead = static_cast<T>(vote.lead + weight);
  } else if (vote.lead >= weight) {
    vote.lead = static_cast<T>(vote.lead - weight);
  } else {
    vote = {value, static_cast<T>(weight - vote.lead)};
  }
}

template <typename T>
void Add(T& sum, uint32_t weight) {
  sum = static_cast<T>(sum + weight);
}

template <typename T>
void Raise(T& greatest, uint32_t figure) {
  if (figure > greatest) greatest = static_cast<T>(figure);
}

template <typename AnyTraits>
void AddBirth(AnyTraits& traits, const ThreadRecorder& thread, StackId born_before, uint64_t bytes,
              uint32_t weight) {
  if (traits.studied == 0) traits.first_ms = thread.now_ms;
  traits.last_ms = thread.now_ms;
  Add(traits.studied, weight);
  Cast(traits.size, CappedSize(bytes), weight);
  Raise(traits.longest_run, thread.run);
  if (thread.run != 1) return;
  Add(traits.runs, weight);
  Cast(traits.born_after, StackIndex(born_before), weight);
}

template <typename AnyTraits>
void AddDeath(AnyTraits& traits, const ThreadRecorder& thread, StackId stack, StackId freed_before,
              NodeId freed_by, uint32_t weight) {
  traits.last_death_ms = thread.now_ms;
  Add(traits.studied_deaths, weight);
  Cast(traits.freed_by, freed_by, weight);
  if (stack == freed_before) return;
  Add(traits.death_runs, weight);
  Cast(traits.freed_after, StackIndex(freed_before), weight);
}

// Four lifetimes lie in three bytes.
constexpr unsigned kFourBits = 24;
uint32_t FourLifetimes(const Traits& traits, size_t item) {
  uint32_t four;
  memcpy(&four, traits.lifetimes + item / 4 * kFourBits / 8, sizeof(four));
  return four;
}
constexpr unsigned ShiftOf(size_t item) { return static_cast<unsigned>(item % 4) * kFourBits / 4; }

void AddLifetime(Traits& traits, size_t item, uint32_t weight) {
  const uint32_t four = FourLifetimes(traits, item) + (weight << ShiftOf(item));
  memcpy(traits.lifetimes + item / 4 * kFourBits / 8, &four, sizeof(four));
}
void AddLifetime(WideTraits& traits, size_t item, uint32_t weight) { traits.lifetimes[item] += weight; }

template <typename AnyTraits>
void AddLife(AnyTraits& traits, uint64_t life, uint32_t weight) {
  if (life == 0) return;
  const size_t log = 63 - static_cast<size_t>(__builtin_clzll(life));
  AddLifetime(traits, log < kLifetimes ? log : kLifetimes - 1, weight);
}

bool IsWide(const Traits& traits) { return traits.studied == Traits::kWide; }

bool HasRoom(const Traits& traits, Study study) {
  return study == Study::kYoung && traits.studied < Traits::kMost && traits.studied_deaths < Traits::kMost;
}

// Null: there is no room.
MALLOW_COLD WideTraits* MakeWide(ThreadRecorder& thread, Traits& traits) {
  const uint32_t number = thread.wide_count;
  WideTraits* const wide = thread.WideTraitsAt(number);
  if (wide == nullptr) return nullptr;
  *wide = Widened(traits);
  thread.wide_count++;
  // At once, for who reads meanwhile.
  using Head = uint64_t __attribute__((may_alias));
  const Head head = number | uint64_t{Traits::kWide} << 32;
  __atomic_store_n(reinterpret_cast<Head*>(&traits), head, __ATOMIC_RELEASE);
  return wide;
}

WideTraits* WideOf(ThreadRecorder& thread, Traits& traits) {
  return MALLOW_LIKELY(IsWide(traits)) ? thread.WideTraitsAt(traits.first_ms) : MakeWide(thread, traits);
}

// What a block changes that is studied so: nothing when there is no room.
template <typename F>
MALLOW_ALWAYS_INLINE void Change(ThreadRecorder& thread, StackId stack, Study study, F change) {
  Traits* const traits = thread.TraitsOf(stack);
  if (MALLOW_UNLIKELY(traits == nullptr)) return;
  if (HasRoom(*traits, study)) {
    change(*traits);
  } else if (WideTraits* const wide = WideOf(thread, *traits); wide != nullptr) {
    change(*wide);
  }
}

// The coarse clock may be late: in the first milliseconds it may say a time before the start.
void Look(ThreadRecorder& thread) {
  const uint64_t since_start = os::CoarseNanoseconds() - thread.header->start_monotonic;
  if (static_cast<int64_t>(since_start) <= 0) return;
  const uint64_t ms = since_start / 1'000'000;
  thread.now_ms = ms < ~uint32_t{0} ? static_cast<uint32_t>(ms) : ~uint32_t{0};
}

// After a look.
void NoteChange(ThreadRecorder& thread, StackId stack, int64_t bytes) {
  thread.changes.Add(StackIndex(stack), bytes);
  Timeline& timeline = g_process.timeline();
  if (MALLOW_UNLIKELY(timeline.IsDue(thread.shard->events - thread.events_at_sample, thread.now_ms)))
    timeline.Take(thread);
}

}  // namespace

WideTraits Widened(const Traits& traits) {
  const auto widened = [](const Vote<uint8_t>& vote) { return Vote<uint32_t>{vote.candidate, vote.lead}; };
  WideTraits wide = {
      .first_ms = traits.first_ms,
      .studied = traits.studied,
      .studied_deaths = traits.studied_deaths,
      .runs = traits.runs,
      .death_runs = traits.death_runs,
      .last_ms = traits.last_ms,
      .last_death_ms = traits.last_death_ms,
      .size = widened(traits.size),
      .born_after = widened(traits.born_after),
      .freed_after = widened(traits.freed_after),
      .freed_by = widened(traits.freed_by),
      .longest_run = traits.longest_run,
      .lifetimes = {},
  };
  for (size_t i = 0; i < kLifetimes; ++i)
    wide.lifetimes[i] = FourLifetimes(traits, i) >> ShiftOf(i) & Traits::kMost;
  return wide;
}

MALLOW_NOINLINE void NoteBirth(ThreadRecorder& thread, StackId stack, StackId born_before, uint64_t bytes,
                               Study study) {
  const uint32_t weight = WeightOf(study);
  Look(thread);
  Change(thread, stack, study, [&](auto& traits) { AddBirth(traits, thread, born_before, bytes, weight); });
  NoteChange(thread, stack, static_cast<int64_t>(weight * bytes));
}

MALLOW_COLD void NoteLongRun(ThreadRecorder& thread, StackId stack) {
  Traits* const traits = thread.TraitsOf(stack);
  if (traits == nullptr) return;
  if (!IsWide(*traits) && thread.run < Traits::kWide) {
    Raise(traits->longest_run, thread.run);
  } else if (WideTraits* const wide = WideOf(thread, *traits); wide != nullptr) {
    Raise(wide->longest_run, thread.run);
  }
}

MALLOW_NOINLINE void NoteDeath(ThreadRecorder& thread, StackId stack, StackId freed_before, uint64_t life,
                               uint64_t bytes, uintptr_t pc, Study study) {
  const uint32_t weight = WeightOf(study);
  Look(thread);
  const NodeId freed_by = thread.CallerAt(pc).node;
  Change(thread, stack, study, [&](auto& traits) {
    AddDeath(traits, thread, stack, freed_before, freed_by, weight);
    AddLife(traits, life, weight);
  });
  NoteChange(thread, stack, -static_cast<int64_t>(weight * bytes));
}

void NoteRealloc(ThreadRecorder& thread, StackId stack, StackId old_stack, uint64_t old_bytes, uint64_t bytes,
                 bool moved, bool copied) {
  Reallocs* const reallocs = thread.ReallocsOf(stack);
  if (reallocs == nullptr) return;
  reallocs->resized++;
  reallocs->grown += bytes > old_bytes;
  reallocs->shrunk += bytes < old_bytes;
  reallocs->moved += moved;
  if (copied) reallocs->bytes_copied += bytes < old_bytes ? bytes : old_bytes;
  reallocs->chained += stack == old_stack;
}

}  // namespace mallow::record
