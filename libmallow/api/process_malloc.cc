#include "api/process_malloc.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "api/exported_symbol.h"
#include "base/config.h"

namespace mallow::api {
namespace {

// What lies in no loaded object is of no use to anyone.
const void* ObjectOf(const void* address) {
  dl_find_object found;
  return _dl_find_object(const_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

const void* OwnObject() { return ObjectOf(reinterpret_cast<const void*>(ServesProcess)); }

// Any function of libc that no other library brings.
const void* ObjectOfLibc() { return ObjectOf(reinterpret_cast<const void*>(getauxval)); }

// The first definition in load order is the one that the process uses. Another library that stands before this one
// may call on to this one, so that it must not be asked in its place: libc does not.
template <typename F>
F* UsedFromLibc(const char* name) {
  const void* used = FindExportedSymbol(name);
  if (used == nullptr) return nullptr;
  const void* object = ObjectOf(used);
  if (object != ObjectOfLibc() || object == OwnObject()) return nullptr;
  return reinterpret_cast<F*>(const_cast<void*>(used));
}

}  // namespace

void (*FreeOfLibc())(void*) { return UsedFromLibc<void(void*)>("free"); }
void* (*ReallocOfLibc())(void*, size_t) { return UsedFromLibc<void*(void*, size_t)>("realloc"); }

bool ServesProcess() {
  const void* first_copy = FindExportedSymbol("mallow_version");
  return (first_copy == nullptr || ObjectOf(first_copy) == OwnObject()) && FreeOfLibc() == nullptr;
}

}  // namespace mallow::api
