// Where the segments end that hold the unwind tables of the objects asked about last, each looked up once.
//
// Thread-compatible; all zero is empty. To be emptied when other objects may lie where one was. Cost: a few comparisons;
// of an object that is not known, a pass over its program headers.
#pragma once

#include <dlfcn.h>

#include <cstdint>

#include "os/readable.h"
#include "record/loaded_image.h"

namespace mallow::record {

class TablesEnds {
 public:
  // See FindTablesEnd.
  uintptr_t Of(const dl_find_object& found, os::ReadablePages* pages) {
    if (found.dlfo_eh_frame == nullptr) return 0;
    for (const Known& known : known_) {
      if (known.tables == found.dlfo_eh_frame) return known.end;
    }
    const uintptr_t end = FindTablesEnd(found, pages);
    known_[next_++ % kMost] = {found.dlfo_eh_frame, end};
    return end;
  }

 private:
  static constexpr unsigned kMost = 8;

  struct Known {
    const void* tables;
    uintptr_t end;
  };

  Known known_[kMost];  // in place of the oldest
  unsigned next_;
};

}  // namespace mallow::record
