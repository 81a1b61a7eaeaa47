// What lies free in caches goes to the page heap: there all size classes have it together, in caches each its own.
#pragma once

#include "heap/pages.h"

namespace mallow::heap {

// All take microseconds to milliseconds and may be called by any thread that holds no lock of the heap.

// What ended threads left, and what is between threads.
void EmptySharedCaches();

// The same before the heap grows, if what is between threads is much beside the heap. False: it is not, and nothing is done.
bool MakeRoom();

// That and what the calling thread holds, for a malloc that would have to fail. False, and nothing is done: the heap never
// had as many pages as this.
bool Reclaim(Pages pages);

}  // namespace mallow::heap
