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
  const link_map* behind;  // objects are passed over up to this one; null: none is
};

int SearchObject(dl_phdr_info* object, size_t, void* argument) {
  auto* search = static_cast<Search*>(argument);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* dynamic = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + segment.p_vaddr);
    if (search->behind == nullptr) {
      search->found = os::SymbolTable(dynamic, object->dlpi_addr).Find(search->name, search->hash);
    } else if (search->behind->l_ld == dynamic) {
      search->behind = nullptr;
    }
  }
  return search->found != nullptr;
}

}  // namespace

const void* FindExportedSymbol(const char* name) { return FindExportedSymbolBehind(nullptr, name); }

const void* FindExportedSymbolBehind(const link_map* object, const char* name) {
  Search search{name, os::GnuHash(name), nullptr, object};
  dl_iterate_phdr(SearchObject, &search);
  return search.found;
}

}  // namespace mallow::api
