// Lets an extra build (test/unwind, MALLOW_ORACLE=1) compare captures of real programs with an independent unwinder.
// libmallow.so itself is built without it.
#pragma once

#include "base/config.h"
#include "record/unwind.h"

namespace mallow::record {

inline constexpr bool kOracleBuild = MALLOW_ORACLE != 0;

// Called after a capture of `start` that gave `node`. Defined by the oracle.
void CheckAgainstOracle(const Registers& start, NodeId node);

}  // namespace mallow::record
