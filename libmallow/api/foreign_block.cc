// Pointers that come to free and realloc and are not this heap's: damage, where this heap is that of the process. Where
// libmallow came late they are libc's, and go back to it.
#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "api/process_malloc.h"
#include "api/slow.h"
#include "base/bits.h"
#include "base/check.h"

namespace mallow::api {
namespace {

// Before ld.so has relocated the program it allocates from the rest of its own last page. It does not free such
// blocks while malloc is its own either, but it may hand them to ours later.
bool IsBlockOfLoader(const void* p) {
  void* loader = reinterpret_cast<void*>(getauxval(AT_BASE));
  dl_find_object found;
  if (loader == nullptr || _dl_find_object(loader, &found) != 0) return false;
  const auto end = reinterpret_cast<uintptr_t>(found.dlfo_map_end);
  const auto address = reinterpret_cast<uintptr_t>(p);
  return address >= reinterpret_cast<uintptr_t>(found.dlfo_map_start) &&
         address < RoundUp(end, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

void FreeForeign(void* p) {
  if (IsBlockOfLoader(p)) return;
  const auto free_of_libc = FreeOfLibc();
  if (free_of_libc == nullptr) DieAt("free(): invalid pointer", p);
  free_of_libc(p);
}

void* ReallocForeign(void* p, size_t bytes) {
  const auto realloc_of_libc = ReallocOfLibc();
  if (realloc_of_libc == nullptr) DieAt("realloc(): invalid pointer", p);
  return realloc_of_libc(p, bytes);
}

// Nobody knows: 0, of which a caller makes no use.
size_t UsableBytesOfForeign(const void* p) {
  if (!IsBlockOfLoader(p) && FreeOfLibc() == nullptr) DieAt("malloc_usable_size(): invalid pointer", p);
  return 0;
}

}  // namespace mallow::api
