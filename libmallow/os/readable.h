// Whether memory may be read, asked without reading it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/config.h"

namespace mallow::os {

// True if the aligned word at `address` can be read now. One system call that changes nothing and that
// sandboxes let through (an invalid request to rt_sigprocmask, whose argument the kernel reads before it refuses).
// Async-signal-safe; does not touch errno.
bool IsReadable(uintptr_t address);

// The same for ranges, page by page, but not again about the two latest pages: for what the program cannot unmap between
// two questions. Thread-compatible; a system call (0.1 us) for each page.
class ReadablePages {
 public:
  bool Has(const void* begin, size_t bytes);

 private:
  static constexpr uintptr_t kNone = 1;
  uintptr_t known_[2] = {kNone, kNone};  // latest first
};

}  // namespace mallow::os
