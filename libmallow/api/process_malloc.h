// Whose malloc the process uses. Where libmallow is preloaded or linked it is this one; where it came later, by dlopen
// or as a library that stands behind libc, it is libc's, and only those who ask this library by its address get it.
#pragma once

#include <cstddef>

namespace mallow::api {

// libc's free or realloc where the process uses those, else null. A look-up in each loaded object; the loader's lock.
void (*FreeOfLibc())(void*);
void* (*ReallocOfLibc())(void*, size_t);

// False where the process uses libc's malloc, or another copy of this library.
bool ServesProcess();

// False where the program brings a malloc of its own, which serves it in this one's place, or valgrind has one for it.
bool ServesMalloc();

}  // namespace mallow::api
