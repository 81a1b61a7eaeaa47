// What the calling thread has allocated while it was recorded: for tests that hold their code to a number.
#pragma once

#include <cstdint>

namespace mallow::record {

struct ThreadCounts {
  uint64_t allocations, bytes;  // of the program and its libraries
  uint64_t libc_allocations;    // of libc on its own account
};

// False: the process is not recorded, or only samples of it are, or the thread has no shard. The figures only grow; a
// shard goes on counting what threads before have, so that differences are what tells. Costs some nanoseconds for
// each stack that was recorded. Not from signal handlers that have interrupted the allocator.
bool CountThread(ThreadCounts* counts);

}  // namespace mallow::record
