#include "os/memory.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstring>

#include "base/bits.h"
#include "base/syscall.h"
#include "os/file.h"
#include "os/valgrind.h"

namespace mallow::os {
namespace {

// Since Linux 5.7; older headers lack it.
constexpr long kRemapKeepSource = 4;

void* MapFresh(void* hint, size_t bytes, int protection, int more_flags) {
  const long p = SystemCall(SYS_mmap, reinterpret_cast<long>(hint), static_cast<long>(bytes), protection,
                            MAP_PRIVATE | MAP_ANONYMOUS | more_flags, -1, 0);
  return p < 0 && p > -4096 ? nullptr : reinterpret_cast<void*>(p);
}

// Not MAP_NORESERVE: with that the system would promise more than all memory.
void* SystemMap(void* hint, size_t bytes) { return MapFresh(hint, bytes, PROT_READ | PROT_WRITE, 0); }

bool SystemUnmap(void* p, size_t bytes) {
  return SystemCall(SYS_munmap, reinterpret_cast<long>(p), static_cast<long>(bytes)) == 0;
}

bool SystemRelease(void* p, size_t bytes) {
  return SystemCall(SYS_madvise, reinterpret_cast<long>(p), static_cast<long>(bytes), MADV_DONTNEED) == 0;
}

long Remap(void* p, size_t bytes, size_t to_bytes, long flags, void* to) {
  return SystemCall(SYS_mremap, reinterpret_cast<long>(p), static_cast<long>(bytes),
                    static_cast<long>(to_bytes), flags, reinterpret_cast<long>(to));
}

bool Protect(void* p, size_t bytes, int protection) {
  return SystemCall(SYS_mprotect, reinterpret_cast<long>(p), static_cast<long>(bytes), protection) == 0;
}

// What the program has made of the pages of its block is not for those behind it.
bool ExtendFresh(void* p, size_t bytes, size_t to_bytes) {
  if (to_bytes == bytes) return true;
  if (Remap(p, bytes, to_bytes, 0, nullptr) != reinterpret_cast<long>(p)) return false;
  const long rest = reinterpret_cast<long>(p) + static_cast<long>(bytes);
  const long rest_bytes = static_cast<long>(to_bytes - bytes);
  SystemCall(SYS_mprotect, rest, rest_bytes, PROT_READ | PROT_WRITE);
  SystemCall(SYS_madvise, rest, rest_bytes, MADV_DOFORK);
  return true;
}

// The place is a wish, not MREMAP_FIXED: with that Linux moves several mappings one after the other since 6.17, and
// may fail between two of them.
bool SystemMove(void* from, size_t bytes, void* to, size_t to_bytes, bool needed) {
  // Fresh pages that do not go back are locked, because the program wants all that it will be given to be (mlockall). The
  // old addresses would be so no longer.
  const bool locked = !SystemRelease(to, 1);
  SystemUnmap(to, to_bytes);
  if (locked) return false;
  const long moved = Remap(from, bytes, bytes, MREMAP_MAYMOVE | kRemapKeepSource, to);
  if (moved < 0 && moved > -4096) return false;
  void* const there = reinterpret_cast<void*>(moved);
  if (there == to && ExtendFresh(to, bytes, to_bytes)) return true;
  // Another thread has just mapped something there.
  if (needed) memcpy(from, there, bytes);
  SystemUnmap(there, bytes);
  return false;
}

constexpr MemoryFunctions kSystem = {SystemMap, SystemUnmap, SystemRelease, 0, SystemMove};
std::atomic<const MemoryFunctions*> current{&kSystem};
std::atomic<uint64_t> map_calls{0};
std::atomic<size_t> page_size{0};
std::atomic<uint64_t> most_ahead{0};
std::atomic<bool (*)()> spare{nullptr};

const MemoryFunctions& Current() { return *current.load(std::memory_order_acquire); }

}  // namespace

void* Map(void* hint, size_t bytes) {
  map_calls.fetch_add(1, std::memory_order_relaxed);
  void* const p = Current().map(hint, bytes);
  if (MALLOW_LIKELY(p != nullptr)) return p;
  // Nothing given back helps to more than there are addresses, and to look for it takes some dozen system calls.
  if (bytes >> kAddressBits != 0) return nullptr;
  bool (*const give_back)() = spare.load(std::memory_order_acquire);
  return give_back != nullptr && give_back() ? Current().map(hint, bytes) : nullptr;
}

void SetSpare(bool (*give_back)()) { spare.store(give_back, std::memory_order_release); }

void* MapSparse(size_t bytes) { return MapFresh(nullptr, bytes, PROT_READ, MAP_NORESERVE); }

void WantHugePages(void* p, size_t bytes) {
  SystemCall(SYS_madvise, reinterpret_cast<long>(p), static_cast<long>(bytes), MADV_HUGEPAGE);
}

void RefuseHugePages(void* p, size_t bytes) {
  // A kernel without huge pages refuses, and is right.
  SystemCall(SYS_madvise, reinterpret_cast<long>(p), static_cast<long>(bytes), MADV_NOHUGEPAGE);
}

bool Unmap(void* p, size_t bytes) { return Current().unmap(p, bytes); }

bool Release(void* p, size_t bytes) { return Current().release(p, bytes); }

bool MovePages(void* from, size_t bytes, void* to, size_t to_bytes, bool needed) {
  const MemoryFunctions& functions = Current();
  if (functions.move != nullptr) return functions.move(from, bytes, to, to_bytes, needed);
  functions.unmap(to, to_bytes);
  return false;
}

bool OpenCode(void* p, size_t bytes) { return Protect(p, bytes, PROT_READ | PROT_WRITE | PROT_EXEC); }
bool ProtectCode(void* p, size_t bytes) {
  DiscardTranslations(p, bytes);
  return Protect(p, bytes, PROT_READ | PROT_EXEC);
}

bool OpenData(void* p, size_t bytes) { return Protect(p, bytes, PROT_READ | PROT_WRITE); }
bool ProtectData(void* p, size_t bytes) { return Protect(p, bytes, PROT_READ); }

size_t ResidentBytes(const void* p, size_t bytes) {
  unsigned char in_memory[512];
  const size_t page = PageSize();
  size_t resident = 0;
  for (const char *part = static_cast<const char*>(p), *end = part + RoundUp(bytes, page); part < end;) {
    const size_t pages = Min<size_t>(static_cast<size_t>(end - part) / page, sizeof(in_memory));
    if (SystemCall(SYS_mincore, reinterpret_cast<long>(part), static_cast<long>(pages * page),
                   reinterpret_cast<long>(in_memory)) < 0) {
      return 0;
    }
    for (size_t i = 0; i < pages; ++i) resident += (in_memory[i] & 1) != 0 ? page : 0;
    part += pages * page;
  }
  return resident;
}

size_t AheadOfUse(size_t bytes) {
  constexpr uint64_t kShareOfLimit = 64;
  uint64_t most = most_ahead.load(std::memory_order_relaxed);
  if (MALLOW_UNLIKELY(most == 0)) {
    most = Max<uint64_t>(1, AddressSpaceLimit() / kShareOfLimit);
    most_ahead.store(most, std::memory_order_relaxed);
  }
  return Min<uint64_t>(bytes, most);
}

size_t PageSize() {
  if (MALLOW_UNLIKELY(Current().page_bytes != 0)) return Current().page_bytes;
  size_t size = page_size.load(std::memory_order_relaxed);
  if (MALLOW_UNLIKELY(size == 0)) {
    size = getauxval(AT_PAGESZ);
    if (size == 0) size = 4096;
    page_size.store(size, std::memory_order_relaxed);
  }
  return size;
}

void ReplaceMemoryFunctions(const MemoryFunctions* functions) {
  current.store(functions == nullptr ? &kSystem : functions, std::memory_order_release);
}

const MemoryFunctions& SystemMemoryFunctions() { return kSystem; }

uint64_t MapCalls() { return map_calls.load(std::memory_order_relaxed); }

}  // namespace mallow::os
