// In libmallow.so: dlopen, for libraries that ask libc for malloc and free before they ask the process.
//
// With RTLD_DEEPBIND, as PHP loads its extensions, a library finds the names of libc in libc, whatever the process uses; so
// does who looks a name up in libc itself. Their free would be given blocks of libmallow that libc does not know. So before
// such a library is loaded, the entries of malloc and its like in libc's symbol table are made to say what the process uses.
// Programs that load none never come here, and where the system forbids to change the table it stays as it is.
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "api/export.h"
#include "api/exported_symbol.h"
#include "api/object.h"
#include "api/process_malloc.h"
#include "base/bits.h"
#include "base/config.h"
#include "os/memory.h"
#include "os/symbol_table.h"

namespace mallow::api {
namespace {

// What takes a block or gives one. Texts one behind the other, not pointers that every process would have to relocate.
constexpr char kNames[] =
    "malloc\0free\0calloc\0realloc\0reallocarray\0memalign\0aligned_alloc\0valloc\0pvalloc\0posix_memalign\0"
    "malloc_usable_size\0__libc_malloc\0__libc_free\0__libc_calloc\0__libc_realloc\0__libc_memalign\0__libc_"
    "valloc\0"
    "__libc_pvalloc\0";

void Enter(const link_map& libc, const os::SymbolTable& symbols, const char* name) {
  const void* const used = FindExportedSymbol(name);
  const ElfW(Sym)* const entry = symbols.FindEntry(name, os::GnuHash(name));
  if (used == nullptr || entry == nullptr || ObjectOf(used) == &libc) return;
  auto* const value = const_cast<ElfW(Addr)*>(&entry->st_value);
  void* const page = reinterpret_cast<void*>(RoundDown(reinterpret_cast<uintptr_t>(value), os::PageSize()));
  if (!os::OpenData(page, os::PageSize())) return;
  __atomic_store_n(value, reinterpret_cast<ElfW(Addr)>(used) - libc.l_addr, __ATOMIC_RELAXED);
  os::ProtectData(page, os::PageSize());
}

// The loader's lock is held: one thread at a time.
int EnterAll(dl_phdr_info*, size_t, void*) {
  static constinit bool done = false;
  if (done) return 1;
  done = true;
  const link_map* const libc = ObjectOfLibc();
  if (libc == nullptr || !ServesProcess() || !ServesMalloc()) return 1;
  const os::SymbolTable symbols(libc->l_ld, libc->l_addr);
  for (const char* name = kNames; *name != '\0'; name += strlen(name) + 1) Enter(*libc, symbols, name);
  return 1;
}

bool IsLibc(const char* file) {
  static constexpr char kLibc[] = "libc.so";
  if (file == nullptr) return false;
  const char* const slash = strrchr(file, '/');
  return strncmp(slash != nullptr ? slash + 1 : file, kLibc, sizeof(kLibc) - 1) == 0;
}

}  // namespace
}  // namespace mallow::api

using namespace mallow::api;

extern "C" {

MALLOW_EXPORT void* dlopen(const char* file, int mode) noexcept {
  if ((mode & RTLD_DEEPBIND) != 0 || IsLibc(file)) dl_iterate_phdr(EnterAll, nullptr);
  const void* next = FindExportedSymbolBehind(ObjectOf(reinterpret_cast<const void*>(EnterAll)), "dlopen");
  // This library itself came late.
  if (next == nullptr) next = FindExportedSymbol("dlopen");
  // By a jump: where libraries are looked for depends on the caller.
  return reinterpret_cast<void* (*)(const char*, int)>(reinterpret_cast<uintptr_t>(next))(file, mode);
}

}  // extern "C"
