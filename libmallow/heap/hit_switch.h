// Closing and opening the hit paths of all threads while they run.
//
// A thread's hit paths are closed by its own word `cursors` (thread_cache.h), which others may store to: a hit path
// loads it once for each use, so that a call is served by the one state or the other. A call that is under way when the
// word changes may still hit; every later one of the thread is slow.
//
// The *hit page* holds the tables that tell the class of a small request. Where it is mapped shared from a file
// (record/control.h), whoever else maps that file can make the next small malloc of every thread slow, by zeros in
// them: class 0 is empty and full at once.
#pragma once

#include "base/config.h"
#include "os/memory.h"

namespace mallow::heap {

// From the next call of each thread on. A thread of a process that has no key for thread exits left goes on hitting until
// its next slow call. Any thread; takes the lock of the registry.
void CloseAllHitPaths();
void OpenAllHitPaths();

inline constexpr size_t kHitPageBytes = 4096;
// Its address, a multiple of kHitPageBytes, and where in it the tables lie, one behind the other.
void* HitPage();
struct HitTable {
  size_t offset, bytes;
};
HitTable GetHitTable();
// Writes what the page, and the table, hold when nobody has changed them.
void CopyHitPage(void* copy);
void CopyHitTable(void* copy);

}  // namespace mallow::heap
