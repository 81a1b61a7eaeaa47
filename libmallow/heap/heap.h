// The heap: what everything above it calls. One malloc travels
//   api -> thread_cache (nearly all end here) -> transfer_cache -> central_list -> page_heap -> os/memory
//
// Thread safety: every function here may be called from any thread at any time, also before
// constructors run, during thread exit and after fork. None allocates from itself, throws,
// or sets errno; a null result means "no memory" and the caller sets errno.
//
// heap/ does not know that anyone records. A client may ask, before the first allocation, for
// an opaque side record beside each object; the heap stores it, never reads it, and never
// clears it when an object is handed out (the client writes it at birth).
#pragma once

#include <cstddef>
#include <cstdint>

namespace mallow::heap {

// Largest size that the thread cache serves; above it objects are whole pages.
inline constexpr size_t kMaxSmallBytes = 256 * 1024;
// Every object is aligned to this at least.
inline constexpr size_t kMinAlignment = 16;

// --- The ordinary way -------------------------------------------------------------------------

// Returns a block of at least `bytes` bytes (bytes == 0 gives a smallest block), or null.
// Inline hit path in thread_cache.h; this one is complete and may be called instead.
void* Allocate(size_t bytes);

// `alignment` is a power of two; any size.
void* AllocateAligned(size_t alignment, size_t bytes);

// Zeroed; knows pages that come fresh from the system and does not clear them again.
void* AllocateZeroed(size_t bytes);

// Releases a block; `p` may be null. A pointer that is not the start of a live block of ours ends
// the process with one clear sentence (see base/check.h) where it can be told cheaply.
void Free(void* p);

// True for a pointer into memory that this heap manages (cheap: one page map look-up).
bool Owns(const void* p);

// Bytes usable at p, which must be the start of a live block.
size_t UsableBytes(const void* p);
// The same for any pointer: 0 unless a block starts there. A small one may have been freed, a large one is live.
size_t BytesOfBlockAt(const void* p);

// Grows or shrinks in place when the block's class or its pages allow it, without moving.
// Returns false if the block would have to move. Null side effects on false.
bool ResizeInPlace(void* p, size_t bytes);

// For a block that ResizeInPlace did not resize: a new block with its contents, as far as they fit. The old one is
// live still, but its contents may be gone: it is to be freed. Without memory null, and the old one is as it was; where that
// is long enough it is returned itself, because programs do not expect it to fail that a block becomes shorter.
void* Relocate(void* p, size_t bytes);
// A growing block of so many bytes is given whole pages with room behind them: it is likely to grow again, then in
// place.
inline constexpr size_t kLeastGrowing = 32 * 1024;

// --- For a client that wants to see every call ------------------------------------------------

// Before the first allocation only. `record_bytes`: 0 or a power of two up to 32. From then on every
// object has such a record (block.h finds it), and with `every_call_slow` the hit paths never hit: the thread cache that they see is
// an empty one, whose bins are empty to malloc and full to free, so that every call reaches the slow functions
// of api/, which ask the client. Costs the hit path nothing when not used.
void Configure(size_t record_bytes, bool every_call_slow);

// The same for a process that has allocated already, at any time; 0: later objects have no record again. Whenever it
// was not 0 it must be the same number. A record that the client has not written is all zero, and objects from before
// have none until MakeRecord makes those of their whole span. hit_switch.h makes every call slow.
void RecordFromNowOn(size_t record_bytes);
// The record of a live block, made if it has none. Null: no memory, or p is no block of ours.
void* MakeRecord(const void* p);
// All records are zero from here on. Looks at every page of the heap, with its lock.
void ClearRecords();

// --- Housekeeping -----------------------------------------------------------------------------

// At the start of a process: takes a key of pthread's, by which threads are seen to end, before the program has taken them
// all. What ends unseen takes its cache with it.
void SeeThreadsEnd();

// Gives what the calling thread's cache holds, and what lies between threads, to all.
void GiveCacheBack();

// Gives back what can be given back; at most `keep_bytes` of free pages stay. True if anything was returned.
bool Trim(size_t keep_bytes);

// How idle memory goes back to the system by itself; see release.h. At any time; large blocks that other threads keep
// for their next use wait for that as before.
struct ReleasePolicy;
void SetReleasePolicy(const ReleasePolicy& policy);
ReleasePolicy GetReleasePolicy();

// When the process exits: ends it by a sentence when the calling thread has freed a block twice, or the inside of a
// block, and nobody has seen it yet. Looks at every free block of the thread's cache, about 5 ns each.
void CheckBeforeExit();

// Fork: to be called by pthread_atfork handlers. BeforeFork takes every lock in rank order (a lock that the
// calling thread holds already, because a signal handler forks out of malloc, is skipped).
void BeforeFork();
// The same, but gives back what it took when another thread keeps one of the locks for long: false, and nothing is
// locked. For a caller that holds a lock of its own, which that thread may wait for.
bool TryBeforeFork();
void AfterForkInParent();
void AfterForkInChild();

}  // namespace mallow::heap
