// When objects are unloaded: a number that every cache of what the unwind tables say carries (invariant I5 of
// stack_cache.h). Thread-safe, lock-free.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.h"

namespace mallow::record {

extern MALLOW_INTERNAL std::atomic<uint64_t> g_module_generation;

inline uint64_t ModuleGeneration() { return g_module_generation.load(std::memory_order_acquire); }

// A rule is being made from the object with this link map: LoaderFreed must know it from now on.
void NoteLinkMap(const void* link_map);

}  // namespace mallow::record
