// A node table for tests: remembers every (parent, frame) in fixed arrays, so that paths can be rebuilt.
//
// Thread-safe and usable in signal handlers (signals are blocked while the lock is held). Holds kCapacity nodes.
#pragma once

#include <cstdint>

#include "record/unwind.h"

namespace mallow::unwind_test {

struct MapNode {
  record::NodeId parent;
  uint32_t module;
  uint64_t frame;
};

// The one table of the test program.
record::NodeTable& Table();
const MapNode& NodeAt(record::NodeId id);
uint32_t NodeCount();
// From now on the table takes no node beyond `nodes`.
void LimitNodes(uint32_t nodes);
inline constexpr uint32_t kNodeCapacity = 1u << 22;

}  // namespace mallow::unwind_test
