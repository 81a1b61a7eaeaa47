// Files, without libc's streams, errno or points of cancellation.
//
// Results below 0 are -errno. Interrupted calls are repeated. Thread-safe. Descriptors are close-on-exec.
#pragma once

#include "base/config.h"

namespace mallow::os {

struct FileStatus {
  uint64_t device;
  uint64_t inode;
  uint64_t size_bytes;
  uint64_t allocated_bytes;
  uint32_t mode;
  uint32_t user_id;
  uint64_t modification_ns;  // since 1970
};

// A new file, opened for reading and writing; -EEXIST when the name is taken (also by a link).
int CreateExclusive(const char* path, unsigned mode);
int OpenForReading(const char* path);
// Takes the name away; 0 or -errno.
int Unlink(const char* path);
void Close(int descriptor);

// 0 or -errno.
int Truncate(int descriptor, uint64_t size_bytes);
int StatusOf(const char* path, FileStatus* status);
// All of it, or -errno.
int WriteAll(int descriptor, const void* data, size_t bytes);
// The same over what the file begins with.
int WriteAtStart(int descriptor, const void* data, size_t bytes);
// Bytes read, 0 at the end, or -errno.
long Read(int descriptor, void* data, size_t bytes);
// Length of the target, which is zero-terminated in `target` (and cut to fit), or -errno.
long ReadLink(const char* path, char* target, size_t capacity);

// Maps a file shared, from its start; null on failure. The descriptor may be closed afterwards. Out of reach until
// AllowWriting: what lies behind the used part of a sparse file can then neither be hit by a stray write nor be
// filled by mlockall.
void* ReserveShared(int descriptor, size_t bytes);
bool AllowWriting(void* p, size_t bytes);
bool UnmapShared(void* p, size_t bytes);
// Pages of a mapping by ReserveShared or MapNothingOver that nobody can reach are locked no longer (mlockall), so that
// the limit of what may be counts them no longer. False where they were not. Both arguments page-aligned.
bool Unlock(void* p, size_t bytes);
// Maps a file shared, readable and writable, from its start; null on failure. Reading behind its end is a SIGBUS.
void* MapShared(int descriptor, size_t bytes);
// Puts the pages of a file from `offset` on, shared and only readable, in the place of mapped ones, at once: other
// threads see the one or the other. `p`, `bytes` and `offset` are page-aligned. False: nothing has changed.
bool MapSharedOver(void* p, size_t bytes, int descriptor, uint64_t offset);
// Puts private pages of zeros in the place of shared ones, at once. False: nothing has changed.
bool MapZerosOver(void* p, size_t bytes);
// The same with pages that nobody can touch.
bool MapNothingOver(void* p, size_t bytes);
// The same with a private copy of what the pages hold.
bool MapCopyOver(void* p, size_t bytes);
// Makes the pages of a mapping exist; those of a shared one in the file, so that later writes cannot meet a full disk as a
// signal. 0 or -errno (-ENOSPC, -EFAULT, -EDQUOT; -EINVAL before Linux 5.14). Both arguments page-aligned.
int Populate(void* p, size_t bytes);
// Of a mapping by ReserveShared: its pages will be wanted one after the other, so that what lies behind one that is
// populated may be brought along. A wish.
void ReadAhead(void* p, size_t bytes);
// Pages of a shared mapping of a file that will hardly be looked at again: they leave the memory of the process, and stay
// in the file as they are. A wish.
void LetGo(void* p, size_t bytes);
// A word or page range that a fork child sees as zeros. 0 or -errno.
int WipeOnFork(void* p, size_t bytes);

// The largest size a file of this process may have (RLIMIT_FSIZE), UINT64_MAX without limit.
uint64_t FileSizeLimit();
// The largest address space it may have (RLIMIT_AS), UINT64_MAX without limit.
uint64_t AddressSpaceLimit();

// The path of the program that the process executes; where there is no /proc, that by which it was called, which of a
// script is the script's. Empty when it is not known. Before the program can change its directory.
void ExecutablePath(char* path, size_t capacity);

// Length of the present directory's path, zero-terminated in `path`; 0 when it does not fit or is gone.
size_t CurrentDirectory(char* path, size_t capacity);

}  // namespace mallow::os
