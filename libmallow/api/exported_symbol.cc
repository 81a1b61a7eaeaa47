// By hand over the dynamic symbol tables: dlsym may allocate, and sees no library that was dlopened locally.
#include "api/exported_symbol.h"

#include <link.h>

#include <cstdint>

#include "os/symbol_table.h"

namespace mallow::api {
namespace {

struct Search {
  const char* name;
  uint32_t hash;
  const void* found;
  // Objects are passed over up to the one in which it lies; null: none is.
  const void* behind;
};

bool Contains(const dl_phdr_info& object, const void* address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - object.dlpi_addr - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && offset < segment.p_memsz) return true;
  }
  return false;
}

int SearchObject(dl_phdr_info* object, size_t, void* argument) {
  auto* search = static_cast<Search*>(argument);
  if (search->behind != nullptr) {
    if (Contains(*object, search->behind)) search->behind = nullptr;
    return 0;
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* dynamic = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + segment.p_vaddr);
    search->found = os::SymbolTable(dynamic, object->dlpi_addr).Find(search->name, search->hash);
  }
  return search->found != nullptr;
}

}  // namespace

const void* FindExportedSymbol(const char* name) { return FindExportedSymbolBehind(nullptr, name); }

const void* FindExportedSymbolBehind(const void* address, const char* name) {
  Search search{name, os::GnuHash(name), nullptr, address};
  dl_iterate_phdr(SearchObject, &search);
  return search.found;
}

}  // namespace mallow::api
