#include "record/module_generation.h"

#include "base/hash.h"
#include "record/unwind.h"

namespace mallow::record {

// Starts at 1, so that a zeroed cache is out of date.
std::atomic<uint64_t> g_module_generation{1};

namespace {

// Link maps that rules were made from. Never emptied: a false hit costs one flush.
constexpr unsigned kSlots = 4096;
std::atomic<const void*> g_link_maps[kSlots];
// A full neighbourhood: from then on every free by the loader counts.
std::atomic<bool> g_link_maps_full{false};
constexpr unsigned kProbes = 64;

unsigned SlotOf(const void* link_map, unsigned probe) {
  return (HashWord(reinterpret_cast<uintptr_t>(link_map)) + probe) % kSlots;
}

bool IsNoted(const void* link_map) {
  for (unsigned probe = 0; probe < kProbes; ++probe) {
    const void* found = g_link_maps[SlotOf(link_map, probe)].load(std::memory_order_acquire);
    if (found == link_map) return true;
    if (found == nullptr) return false;
  }
  return g_link_maps_full.load(std::memory_order_acquire);
}

}  // namespace

void NoteLinkMap(const void* link_map) {
  if (link_map == nullptr) return;
  for (unsigned probe = 0; probe < kProbes; ++probe) {
    std::atomic<const void*>& slot = g_link_maps[SlotOf(link_map, probe)];
    const void* found = slot.load(std::memory_order_acquire);
    if (found == link_map) return;
    if (found != nullptr) continue;
    if (slot.compare_exchange_strong(found, link_map, std::memory_order_acq_rel) || found == link_map) return;
  }
  g_link_maps_full.store(true, std::memory_order_release);
}

void InvalidateModules() { g_module_generation.fetch_add(1, std::memory_order_acq_rel); }

void LoaderFreed(const void* block) {
  if (block != nullptr && IsNoted(block)) InvalidateModules();
}

}  // namespace mallow::record
