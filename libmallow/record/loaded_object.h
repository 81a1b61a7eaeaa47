// Which loaded object an address lies in.
//
// Thread safety: any thread, any time; no lock, no allocation, no system call.
#pragma once

#include <dlfcn.h>

#include <cstdint>

namespace mallow::record {

// _dl_find_object, also where that cannot be called: in a program that is linked statically it is prepared by a part
// of libc that allocates, and so is recorded itself. There is one object there.
bool FindLoadedObject(uintptr_t address, dl_find_object* found);

}  // namespace mallow::record
