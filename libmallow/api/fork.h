// fork finds every lock of the heap free, and gives each process its own.
#pragma once

namespace mallow::api {

// Once, when the library starts. May allocate.
void LockAtFork();

}  // namespace mallow::api
