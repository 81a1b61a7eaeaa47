// A second opinion on a captured stack: libunwind's step by step unwinder, on the same frame.
//
// Whole paths are compared, frame by frame, not ids or hashes. The oracle reads the same unwind tables, so it cannot
// show that the tables are right, only that nothing is taken for unchanged that has changed.
#pragma once

#include <cstdint>

#include "record/unwind.h"

namespace mallow::unwind_test {

enum class Verdict {
  kSame,
  kSameTruncated,  // the same as far as the tables reach, and marked so
  kDifferent,
  kNotFound,  // the oracle does not come to the frame where the capture began
};

// One frame of a path, for the oracle: what its node holds.
struct PathFrame {
  uint64_t frame;  // tag << 56 | value
  record::NodeId parent;
};
using ReadNode = PathFrame (*)(record::NodeId);

// Compares the path of `node` with what libunwind finds from `start` outwards. `start` is the state of a frame that is
// still active below us.
Verdict CompareWithOracle(const record::Registers& start, record::NodeId node, ReadNode read_node);

// Writes the two paths to descriptor 2, ours first.
void PrintDifference(const record::Registers& start, record::NodeId node, ReadNode read_node);

// Lets libunwind look up every frame anew, since it does not see dlclose. Slower.
void UseNoCache();

// After dlclose: forgets what libunwind remembers of the tables.
void FlushOracle();

}  // namespace mallow::unwind_test
