#include "record/counting.h"

#include "base/bits.h"

namespace mallow::record {
namespace {

// Of two figures that other threads raise.
int64_t Greater(const uint64_t& peak, const uint64_t& other) {
  return static_cast<int64_t>(
      Max(__atomic_load_n(&peak, __ATOMIC_RELAXED), __atomic_load_n(&other, __ATOMIC_RELAXED)));
}
void RaisePeak(uint64_t* peak, int64_t sum) {
  uint64_t seen = __atomic_load_n(peak, __ATOMIC_RELAXED);
  while (sum > static_cast<int64_t>(seen) &&
         !__atomic_compare_exchange_n(peak, &seen, static_cast<uint64_t>(sum), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
}

}  // namespace

size_t Counting::CountHuge(StackId stack, size_t bytes, size_t usable_bytes) {
  const size_t carried = (usable_bytes - bytes) / kCarried;
  if (carried == 0 && bytes < kHugeSize) return usable_bytes;
  RareCounts* const rare = thread_.RareCountsOf(stack);
  if (rare != nullptr) {
    rare->waste += static_cast<uint32_t>(carried);
    if (bytes >= kHugeSize) {
      if (rare->huge_min == 0 || bytes < rare->huge_min) rare->huge_min = bytes;
      if (bytes > rare->huge_max) rare->huge_max = bytes;
    }
  }
  return usable_bytes - carried * kCarried;
}

// Calls never become few again. Whatever is a part of `releases` grows by no more than that between two carries of it, and
// stays below 2^32.
void Counting::Carry(Counts& counts, StackId stack) {
  RareCounts* const rare = thread_.RareCountsOf(stack);
  if (rare == nullptr) return;
  const auto carry = [](uint32_t& count, uint32_t& carried) {
    if (count < 2 * kCarried) return;
    count -= kCarried;
    carried++;
  };
  carry(counts.calls, rare->calls);
  carry(counts.waste, rare->waste);
  carry(counts.releases, rare->releases);
  carry(counts.temporary, rare->temporary);
  carry(counts.short_lived, rare->short_lived);
  carry(counts.foreign, rare->foreign);
}

// The first thread's births do not look at the peaks: a sum is only a peak when it begins to fall, so the death does that
// comes then. Until that a reader has to take the sum for the peak if it is greater (see "The peak" in
// format/recording.md).
void Counting::LookAtPeaks() {
  if (!thread_.is_first()) {
    Flush();
    return LeavePeak();
  }
  Header& header = this->header();
  const int64_t shared = __atomic_load_n(&header.shared_live, __ATOMIC_RELAXED);
  const int64_t shared_program = __atomic_load_n(&header.shared_live_program, __ATOMIC_RELAXED);
  const int64_t sum = shard_.live_bytes + shared;
  int64_t peak = Greater(shard_.peak_bytes, header.shared_peak);
  if (sum > peak) {
    peak = sum;
    __atomic_store_n(&shard_.peak_bytes, static_cast<uint64_t>(sum), __ATOMIC_RELAXED);
    __atomic_store_n(&shard_.at_peak, 1, __ATOMIC_RELAXED);
  }
  LeavePeak();
  // More than the sum of all where a thread has yet to tell of a birth in libc: the lesser peak stays the lesser.
  const int64_t libc = shard_.live_bytes_libc;
  const int64_t sum_program = Min(shard_.live_bytes - libc + shared_program, sum);
  const int64_t peak_program =
      Max(Greater(shard_.peak_bytes_program, header.shared_peak_program), sum_program);
  shard_.peak_bytes_program = static_cast<uint64_t>(peak_program);
  // Stays right when libc allocates, and when the program does.
  const int64_t limit = Min(peak - shared, peak_program - shared_program + libc);
  __atomic_store_n(&thread_.peak_limit, limit, __ATOMIC_RELAXED);
  if (MALLOW_LIKELY(header.most_threads == 1)) return;
  // Another may have changed them since, and made the limit the least before that was written.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&header.shared_live, __ATOMIC_RELAXED) != shared ||
      __atomic_load_n(&header.shared_live_program, __ATOMIC_RELAXED) != shared_program)
    __atomic_store_n(&thread_.peak_limit, INT64_MIN, __ATOMIC_RELAXED);
}

// The sum is about to leave its greatest value so far, if it is there: from here on it is the past, and every record keeps
// what it had before its next change.
void Counting::LeavePeak() {
  if (__atomic_load_n(&first().at_peak, __ATOMIC_RELAXED) == 0) return;
  __atomic_store_n(&first().at_peak, 0, __ATOMIC_RELAXED);
  uint64_t& epoch = header().peak_epoch;
  __atomic_store_n(&epoch, __atomic_load_n(&epoch, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

void Counting::Start() {
  thread_.flushed_live = thread_.flushed_live_libc = 0;
  thread_.peak_limit = thread_.is_first() ? INT64_MIN : INT64_MAX;
  thread_.flush_above = thread_.is_first() ? INT64_MAX : kFlushBytes;
  thread_.flush_below = thread_.is_first() ? INT64_MIN : -kFlushBytes;
}

Counting::Live Counting::LiveOfFirst() const {
  const int64_t all = __atomic_load_n(&first().live_bytes, __ATOMIC_ACQUIRE);
  return {all, all - __atomic_load_n(&first().live_bytes_libc, __ATOMIC_ACQUIRE)};
}

// What the others have at one moment and the first one has at another are no sum that ever was: it may hand over to them in
// between. So of it counts what it has before and after, the lesser; before it has less it looks at the peaks itself.
template <typename OfOthers>
void Counting::RaiseSharedPeaks(OfOthers of_others) {
  const Live before = LiveOfFirst();
  const Live others = of_others();
  const Live after = LiveOfFirst();
  const int64_t sum = others.all + Min(before.all, after.all);
  if (sum > Greater(first().peak_bytes, header().shared_peak))
    __atomic_store_n(&first().at_peak, 1, __ATOMIC_RELAXED);
  RaisePeak(&header().shared_peak, sum);
  RaisePeak(&header().shared_peak_program, others.program + Min(before.program, after.program));
}

void Counting::Flush() {
  const int64_t change = shard_.live_bytes - thread_.flushed_live;
  const int64_t change_program = change - (shard_.live_bytes_libc - thread_.flushed_live_libc);
  thread_.flushed_live = shard_.live_bytes;
  thread_.flushed_live_libc = shard_.live_bytes_libc;
  thread_.flush_above = thread_.flushed_live + kFlushBytes;
  thread_.flush_below = thread_.flushed_live - kFlushBytes;
  int64_t& shared = header().shared_live;
  int64_t& shared_program = header().shared_live_program;
  if (change < 0) {
    RaiseSharedPeaks([&]() -> Live {
      return {__atomic_load_n(&shared, __ATOMIC_ACQUIRE), __atomic_load_n(&shared_program, __ATOMIC_ACQUIRE)};
    });
    LeavePeak();
  }
  RaiseSharedPeaks([&]() -> Live {
    return {__atomic_add_fetch(&shared, change, __ATOMIC_ACQ_REL),
            __atomic_add_fetch(&shared_program, change_program, __ATOMIC_ACQ_REL)};
  });
  __atomic_store_n(&thread_.first->peak_limit, INT64_MIN, __ATOMIC_RELAXED);
}

}  // namespace mallow::record
