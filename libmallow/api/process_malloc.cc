#include "api/process_malloc.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <span>

#include "api/exported_symbol.h"
#include "api/object.h"
#include "base/bits.h"
#include "base/config.h"

namespace mallow::api {
namespace {

// What memcheck and those tools of valgrind that replace malloc preload has this one, and valgrind puts it in the place of
// every malloc when it translates that. No look-up tells.
constexpr char kValgrindsMalloc[] = "_vgr10010ZU_VgSoSynsomalloc_malloc";

const link_map* OwnObject() { return ObjectOf(reinterpret_cast<const void*>(ServesProcess)); }

// The first definition in load order is the one that the process uses. Another library that stands before this one
// may call on to this one, so that it must not be asked in its place: libc does not.
template <typename F>
F* UsedFromLibc(const char* name) {
  const void* used = FindExportedSymbol(name);
  if (used == nullptr) return nullptr;
  const link_map* const object = ObjectOf(used);
  if (object != ObjectOfLibc() || object == OwnObject()) return nullptr;
  return reinterpret_cast<F*>(const_cast<void*>(used));
}

// See record/note.h.
bool IsCopyOfMallow(const dl_phdr_info& object) {
  for (const ElfW(Phdr) & segment : std::span(object.dlpi_phdr, object.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    uintptr_t at = object.dlpi_addr + segment.p_vaddr;
    const uintptr_t end = at + segment.p_memsz;
    while (end - at > sizeof(ElfW(Nhdr))) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const auto* name = reinterpret_cast<const char*>(note + 1);
      if (note->n_namesz == sizeof("mallow") && strcmp(name, "mallow") == 0) return true;
      const size_t bytes = sizeof(*note) + RoundUp(note->n_namesz, 4) + RoundUp(note->n_descsz, 4);
      if (bytes > end - at) break;
      at += bytes;
    }
  }
  return false;
}

bool Contains(const dl_phdr_info& object, uintptr_t address) {
  for (const ElfW(Phdr) & segment : std::span(object.dlpi_phdr, object.dlpi_phnum)) {
    const uintptr_t start = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= start && address - start < segment.p_memsz) return true;
  }
  return false;
}

// Stops at the first copy in load order.
int LookForCopy(dl_phdr_info* object, size_t, void* is_this_one) {
  if (!IsCopyOfMallow(*object)) return 0;
  *static_cast<bool*>(is_this_one) = Contains(*object, reinterpret_cast<uintptr_t>(LookForCopy));
  return 1;
}

}  // namespace

void (*FreeOfLibc())(void*) { return UsedFromLibc<void(void*)>("free"); }
void* (*ReallocOfLibc())(void*, size_t) { return UsedFromLibc<void*(void*, size_t)>("realloc"); }

// In a static program there is no other, and no name to be looked up.
bool ServesMalloc() {
  const void* used = FindExportedSymbol("malloc");
  return (used == nullptr || ObjectOf(used) == OwnObject()) &&
         FindExportedSymbol(kValgrindsMalloc) == nullptr;
}

bool ServesProcess() {
  bool is_first_copy = true;
  dl_iterate_phdr(LookForCopy, &is_first_copy);
  return is_first_copy && FreeOfLibc() == nullptr;
}

}  // namespace mallow::api
