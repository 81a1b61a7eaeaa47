#include "record/counting.h"

namespace mallow::record {

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

}  // namespace mallow::record
