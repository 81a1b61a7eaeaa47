// The whole of a loaded object: its address range and its program headers.
//
// _dl_find_object gives the range of one segment where an executable that is not position-independent has gaps
// between its segments; its unwind tables and its ELF header then lie outside that range. A program may also have unmapped
// by itself what the loader still tells of.
//
// Thread safety: any thread, any time; no lock, no allocation. `pages` tells whether the headers are there.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

#include "os/readable.h"

struct dl_find_object;

namespace mallow::record {

struct LoadedImage {
  uintptr_t start, end;
  uintptr_t bias;              // of the addresses in the headers
  const ElfW(Phdr) * headers;  // null when they are not in memory
  size_t header_count;
};

LoadedImage FindLoadedImage(const dl_find_object& found, os::ReadablePages* pages);

// Where the segment with the object's unwind tables ends, as far as the file has it, by the program headers; 0 where they do
// not tell.
uintptr_t FindTablesEnd(const dl_find_object& found, os::ReadablePages* pages);

}  // namespace mallow::record
