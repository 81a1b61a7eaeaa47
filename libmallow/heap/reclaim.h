// What lies free in caches, for a malloc that would have to fail: there each size class has its own, in the page heap all
// have it together.
#pragma once

#include "heap/pages.h"

namespace mallow::heap {

// Gives what the calling thread and the transfer caches hold to the page heap. False, and does nothing: the heap never had
// as many pages as this. Microseconds to milliseconds. Any thread, without a lock of the heap.
bool Reclaim(Pages pages);

}  // namespace mallow::heap
