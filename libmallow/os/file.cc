#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/syscall.h"

namespace mallow::os {
namespace {

// Since Linux 5.14; older headers lack it.
constexpr long kPopulateWrite = 23;
constexpr int kSectorBytes = 512;

long Word(const void* p) { return reinterpret_cast<long>(p); }

long Retried(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0) {
  long result;
  do {
    result = SystemCall(number, a, b, c, d, e);
  } while (result == -EINTR);
  return result;
}

int Open(const char* path, int flags, unsigned mode) {
  return static_cast<int>(Retried(SYS_openat, AT_FDCWD, Word(path), flags | O_CLOEXEC, mode));
}

}  // namespace

int CreateExclusive(const char* path, unsigned mode) {
  return Open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
}

int OpenForReading(const char* path) { return Open(path, O_RDONLY, 0); }

int Unlink(const char* path) { return static_cast<int>(Retried(SYS_unlinkat, AT_FDCWD, Word(path), 0)); }

// Not repeated when interrupted: Linux has closed the descriptor even then.
void Close(int descriptor) { SystemCall(SYS_close, descriptor); }

int Truncate(int descriptor, uint64_t size_bytes) {
  return static_cast<int>(Retried(SYS_ftruncate, descriptor, static_cast<long>(size_bytes)));
}

int StatusOf(const char* path, FileStatus* status) {
  struct statx found = {};
  const long result = Retried(SYS_statx, AT_FDCWD, Word(path), 0, STATX_BASIC_STATS, Word(&found));
  if (result < 0) return static_cast<int>(result);
  status->device = static_cast<uint64_t>(found.stx_dev_major) << 32 | found.stx_dev_minor;
  status->inode = found.stx_ino;
  status->size_bytes = found.stx_size;
  status->allocated_bytes = found.stx_blocks * kSectorBytes;
  status->mode = found.stx_mode;
  status->user_id = found.stx_uid;
  status->modification_ns =
      static_cast<uint64_t>(found.stx_mtime.tv_sec) * 1'000'000'000 + found.stx_mtime.tv_nsec;
  return 0;
}

int WriteAll(int descriptor, const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const long written = Retried(SYS_write, descriptor, Word(next), static_cast<long>(bytes));
    if (written < 0) return static_cast<int>(written);
    next += written;
    bytes -= static_cast<size_t>(written);
  }
  return 0;
}

int WriteAtStart(int descriptor, const void* data, size_t bytes) {
  const long start = Retried(SYS_lseek, descriptor, 0, SEEK_SET);
  return start < 0 ? static_cast<int>(start) : WriteAll(descriptor, data, bytes);
}

long Read(int descriptor, void* data, size_t bytes) {
  return Retried(SYS_read, descriptor, Word(data), static_cast<long>(bytes));
}

long ReadLink(const char* path, char* target, size_t capacity) {
  const long length =
      Retried(SYS_readlinkat, AT_FDCWD, Word(path), Word(target), static_cast<long>(capacity - 1));
  if (length >= 0) target[length] = 0;
  return length;
}

namespace {

uint64_t ResourceLimit(int resource) {
  struct {
    uint64_t current, maximum;
  } limit = {};
  if (SystemCall(SYS_prlimit64, 0, resource, 0, Word(&limit)) < 0) return UINT64_MAX;
  return limit.current;
}

}  // namespace

void* ReserveShared(int descriptor, size_t bytes) {
  const long p =
      SystemCall(SYS_mmap, 0, static_cast<long>(bytes), PROT_NONE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (p < 0 && p > -4096) return nullptr;
  // Without read-ahead: around each first touch of a hole it would fill megabytes of page cache with zeros.
  SystemCall(SYS_madvise, p, static_cast<long>(bytes), MADV_RANDOM);
  return reinterpret_cast<void*>(p);
}

bool AllowWriting(void* p, size_t bytes) {
  return SystemCall(SYS_mprotect, Word(p), static_cast<long>(bytes), PROT_READ | PROT_WRITE) == 0;
}

bool UnmapShared(void* p, size_t bytes) {
  return SystemCall(SYS_munmap, Word(p), static_cast<long>(bytes)) == 0;
}

bool Unlock(void* p, size_t bytes) {
  if (bytes == 0) return false;
  // What is locked cannot be let go of.
  if (SystemCall(SYS_madvise, Word(p), static_cast<long>(bytes), MADV_DONTNEED) != -EINVAL) return false;
  return SystemCall(SYS_munlock, Word(p), static_cast<long>(bytes)) == 0;
}

namespace {

bool MapOver(void* p, size_t bytes, int protection, int flags, int descriptor, uint64_t offset) {
  return SystemCall(SYS_mmap, Word(p), static_cast<long>(bytes), protection, flags | MAP_FIXED, descriptor,
                    static_cast<long>(offset)) == Word(p);
}

constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

void* MapShared(int descriptor, size_t bytes) {
  const long p =
      SystemCall(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return p < 0 && p > -4096 ? nullptr : reinterpret_cast<void*>(p);
}

bool MapSharedOver(void* p, size_t bytes, int descriptor, uint64_t offset) {
  return MapOver(p, bytes, PROT_READ, MAP_SHARED, descriptor, offset);
}

bool MapZerosOver(void* p, size_t bytes) {
  return MapOver(p, bytes, PROT_READ | PROT_WRITE, kPrivate, -1, 0);
}

bool MapNothingOver(void* p, size_t bytes) { return MapOver(p, bytes, PROT_NONE, kPrivate, -1, 0); }

bool MapCopyOver(void* p, size_t bytes) {
  const long size = static_cast<long>(bytes);
  const long copy = SystemCall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, kPrivate, -1, 0);
  if (copy < 0 && copy > -4096) return false;
  memcpy(reinterpret_cast<void*>(copy), p, bytes);
  if (SystemCall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, Word(p)) == Word(p))
    return true;
  SystemCall(SYS_munmap, copy, size);
  return false;
}

int Populate(void* p, size_t bytes) {
  return static_cast<int>(Retried(SYS_madvise, Word(p), static_cast<long>(bytes), kPopulateWrite));
}

void ReadAhead(void* p, size_t bytes) {
  Retried(SYS_madvise, Word(p), static_cast<long>(bytes), MADV_NORMAL);
}

void LetGo(void* p, size_t bytes) { Retried(SYS_madvise, Word(p), static_cast<long>(bytes), MADV_DONTNEED); }

int WipeOnFork(void* p, size_t bytes) {
  return static_cast<int>(SystemCall(SYS_madvise, Word(p), static_cast<long>(bytes), MADV_WIPEONFORK));
}

MALLOW_ALIGNS_STACK uint64_t FileSizeLimit() { return ResourceLimit(RLIMIT_FSIZE); }
MALLOW_ALIGNS_STACK uint64_t AddressSpaceLimit() { return ResourceLimit(RLIMIT_AS); }

size_t CurrentDirectory(char* path, size_t capacity) {
  // The kernel counts the terminating zero, and begins with "(" where the directory is out of reach.
  const long length = SystemCall(SYS_getcwd, Word(path), static_cast<long>(capacity));
  return length > 1 && path[0] == '/' ? static_cast<size_t>(length) - 1 : 0;
}

namespace {

// The path of the file that is mapped at an address.
class MappedPath {
 public:
  MappedPath(uintptr_t address, char* path, size_t capacity)
      : address_(address), path_(path), capacity_(capacity) {}

  bool Find() {
    const int descriptor = OpenForReading("/proc/self/maps");
    if (descriptor < 0) return false;
    char text[256];
    for (long bytes; !found_ && (bytes = Read(descriptor, text, sizeof(text))) > 0;) {
      for (long i = 0; i < bytes && !found_; ++i) Add(text[i]);
    }
    Close(descriptor);
    return found_;
  }

 private:
  enum class Within { kBegin, kEnd, kRest, kPath };

  // A line is "BEGIN-END ...", and behind that the path, which begins with "/".
  void Add(char letter) {
    if (letter == '\n') return EndLine();
    switch (within_) {
      case Within::kBegin:
        letter == '-' ? GoTo(Within::kEnd) : AddDigit(&begin_, letter);
        break;
      case Within::kEnd:
        letter == ' ' ? GoTo(Within::kRest) : AddDigit(&end_, letter);
        break;
      case Within::kRest:
        if (letter != '/' || address_ < begin_ || address_ >= end_) break;
        GoTo(Within::kPath);
        [[fallthrough]];
      case Within::kPath:
        if (length_ + 1 < capacity_) path_[length_++] = letter;
    }
  }
  void EndLine() {
    found_ = within_ == Within::kPath;
    if (found_) path_[length_] = 0;
    begin_ = end_ = 0;
    GoTo(Within::kBegin);
  }
  void GoTo(Within part) { within_ = part; }
  static void AddDigit(uintptr_t* number, char digit) {
    *number = *number * 16 + static_cast<uintptr_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }

  const uintptr_t address_;
  char* const path_;
  const size_t capacity_;
  size_t length_ = 0;
  Within within_ = Within::kBegin;
  uintptr_t begin_ = 0, end_ = 0;
  bool found_ = false;
};

// Where a loader was started by hand and given the program, the kernel takes the loader for the program. It has no other
// loader then, as a static program has none, and has written down where the program's headers are.
bool PathOfGivenToLoader(char* path, size_t capacity) {
  const uintptr_t headers = getauxval(AT_PHDR);
  return getauxval(AT_BASE) == 0 && headers != 0 && MappedPath(headers, path, capacity).Find();
}

}  // namespace

void ExecutablePath(char* path, size_t capacity) {
  if (PathOfGivenToLoader(path, capacity) || ReadLink("/proc/self/exe", path, capacity) >= 0) return;
  path[0] = 0;
  auto* called = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (called == nullptr) return;
  while (called[0] == '.' && called[1] == '/') called += 2;
  size_t length = 0;
  if (called[0] != '/' && (length = CurrentDirectory(path, capacity)) > 0 && length + 1 < capacity)
    path[length++] = '/';
  const size_t rest = strlen(called);
  if (rest < capacity - length) {
    memcpy(path + length, called, rest + 1);
  } else {
    path[0] = 0;
  }
}

}  // namespace mallow::os
