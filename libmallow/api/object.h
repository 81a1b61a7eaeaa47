// In which loaded object an address lies. Neither a lock nor an allocation: the loader keeps a table for unwinders.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

namespace mallow::api {

// Null: in none.
inline const link_map* ObjectOf(const void* address) {
  dl_find_object found;
  return _dl_find_object(const_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

// Any function of libc that no other library brings.
inline const link_map* ObjectOfLibc() { return ObjectOf(reinterpret_cast<const void*>(getauxval)); }

}  // namespace mallow::api
