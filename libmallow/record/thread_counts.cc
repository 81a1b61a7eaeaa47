#include "record/thread_counts.h"

#include <atomic>

#include "os/signal.h"
#include "record/process.h"
#include "record/recorder.h"
#include "record/thread_recorder.h"

namespace mallow::record {
namespace {

// Whether libc itself made the calls of a stack. Of stacks from before a fork, whose nodes lie in another file, it is
// not known, and they count as the program's.
bool IsLibcs(uint32_t stack) {
  MappedFile& file = g_process.file();
  const Header& header = g_process.header();
  if (stack < header.parent_stacks) return false;
  const NodeId function = file.Items<uint32_t>(Section::kStacks)[stack - header.parent_stacks];
  return IsLibcStack(g_process.stacks().StackAt(function));
}

// 0 of free(NULL): no block has no bytes, usable ones included.
uint64_t AllocationsOf(const ThreadRecorder& thread, uint32_t stack, const Counts& counts) {
  const RareCounts* const rare = thread.KnownRareCountsOf(stack);
  if (counts.bytes == 0 && counts.waste == 0 && (rare == nullptr || rare->waste == 0)) return 0;
  return counts.calls + (rare == nullptr ? 0 : uint64_t{rare->calls} << RareCounts::kCarriedBits);
}

// False: the session has ended meanwhile, or another one has begun.
bool AddUp(const ThreadRecorder& thread, ThreadCounts* counts) {
  for (size_t page = 0; page < thread.counts_pages.capacity; ++page) {
    const auto* const records = reinterpret_cast<const Counts*>(thread.counts_pages.items[page]);
    for (size_t i = 0; records != nullptr && i < kCountersPerPage; ++i) {
      if (g_process.IsLate()) return false;
      if (records[i].calls == 0) continue;
      const uint32_t stack = static_cast<uint32_t>(page * kCountersPerPage + i);
      const uint64_t allocations = AllocationsOf(thread, stack, records[i]);
      if (stack != kNoStack && IsLibcs(stack)) {
        counts->libc_allocations += allocations;
      } else {
        counts->allocations += allocations;
        counts->bytes += records[i].bytes;
      }
    }
  }
  return __atomic_load_n(&g_recording, __ATOMIC_ACQUIRE) && !g_process.IsLate();
}

}  // namespace

// As a record, so that a session does not end meanwhile.
bool CountThread(ThreadCounts* counts) {
  *counts = {};
  if (!g_recording || g_sampling) return false;
  // A handler that allocates would be refused.
  const os::SignalsBlocked quiet;
  ThreadRecorder* const thread = g_process.Current();
  if (thread == nullptr || thread->state.busy) return false;
  thread->state.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool all = g_process.IsOfNow(*thread) && AddUp(*thread, counts);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread->state.busy = false;
  if (!all) *counts = {};
  return all;
}

}  // namespace mallow::record
