// Memory from the system.
//
// All goes through a struct of functions that a test may replace, so that the k-th call can be made to fail.
// Thread safety: every function from any thread at any time; none writes errno.
#pragma once

#include "base/config.h"

namespace mallow::os {

struct MemoryFunctions {
  // Fresh zeroed pages, readable and writable; null when there are none, or not so many as the system's rules of
  // overcommit ask for. `hint` is a wish for the place, or null.
  void* (*map)(void* hint, size_t bytes);
  // Gives the addresses back. False when the system refuses (too many mappings): the pages stay mapped.
  bool (*unmap)(void* p, size_t bytes);
  // Gives the pages back and keeps the addresses: they read as zero afterwards. False when it did not happen (locked
  // pages, a filter that forbids it): those before the first locked one may then read as zero, the others are unchanged.
  bool (*release)(void* p, size_t bytes);
  // Size of a page, or 0: ask the system.
  size_t page_bytes = 0;
  // See MovePages; null: never.
  bool (*move)(void* from, size_t bytes, void* to, size_t to_bytes, bool needed) = nullptr;
};

void* Map(void* hint, size_t bytes);
// For who keeps addresses against a later need: `give_back` is asked when the system has refused fresh pages, and says
// whether some addresses have become free. It maps nothing, and takes no lock but of rank kLeaf. Null: nobody does.
void SetSpare(bool (*give_back)());
// Zeros for a long array of which little will be written; that little has to be allowed first (AllowWriting).
void* MapSparse(size_t bytes);
// A wish: the kernel may have no huge pages, or none free.
void WantHugePages(void* p, size_t bytes);
// Where they would make much resident of which little is written.
void RefuseHugePages(void* p, size_t bytes);
bool Unmap(void* p, size_t bytes);
bool Release(void* p, size_t bytes);

// Lets code be changed, and executed while it is: false where the system forbids it, and nothing has changed then.
bool OpenCode(void* p, size_t bytes);
// To be read and executed only. False: the pages are as they were.
bool ProtectCode(void* p, size_t bytes);

// The same of what is only read.
bool OpenData(void* p, size_t bytes);
bool ProtectData(void* p, size_t bytes);

// Moves the pages [from, from + bytes) to the beginning of [to, to + to_bytes), which was just mapped and is one mapping
// then; the old addresses stay mapped and read as zero. False: nothing was moved, and [to, to + to_bytes) is no longer the
// caller's. So it is where the old addresses lie in several mappings, as they do when the program has said something of
// its own of a part of them, or where it has all of its memory locked. Now and then another thread is given the place: then all
// of it is copied back, unless what it holds is not `needed`, and reads as zero.
bool MovePages(void* from, size_t bytes, void* to, size_t to_bytes, bool needed = true);

// How many bytes of the mapped pages [p, p + bytes) are in memory at present, asked of the system; 0 when it does not
// tell. `p` is page-aligned.
size_t ResidentBytes(const void* p, size_t bytes);

// How much may be mapped ahead of its use where `bytes` are wished: less where the address space is limited, because what
// we only might use is not the program's. The limit is that of the first call: later a filter may end who asks.
size_t AheadOfUse(size_t bytes);

// Size of the system's pages in bytes, asked once: between 4 KiB and 64 KiB on the machines we know.
size_t PageSize();

// For tests: replaces the functions; null restores the system's own.
void ReplaceMemoryFunctions(const MemoryFunctions* functions);
const MemoryFunctions& SystemMemoryFunctions();
// Number of successful and failed Map calls so far.
uint64_t MapCalls();

}  // namespace mallow::os
