// Finds a function by name in all loaded objects, those that were dlopened locally included.
#pragma once

#include <link.h>

namespace mallow::api {

// The address of the first default version of `name` in load order, or null. Allocates nothing. Takes the loader's
// lock (as dl_iterate_phdr does): for rare moments only. Cost: one hash look-up per loaded object.
const void* FindExportedSymbol(const char* name);
// The same in the objects behind this one; null: in all of them.
const void* FindExportedSymbolBehind(const link_map* object, const char* name);

}  // namespace mallow::api
