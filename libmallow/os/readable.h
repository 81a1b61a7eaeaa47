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

// The same for ranges, page by page, but not again about the latest few pages, until it is told to forget them: for as long
// as the thread does not go on with its program. Thread-compatible; all zero is empty; a system call (0.1 us) for each page.
class ReadablePages {
 public:
  bool Has(const void* begin, size_t bytes);
  bool HasWord(uintptr_t address) { return Has(reinterpret_cast<const void*>(address), sizeof(uintptr_t)); }
  void Forget() { learned_ = 0; }

 private:
  static constexpr unsigned kMost = 8;

  bool Knows(uintptr_t page) const;

  uintptr_t known_[kMost];  // in place of the oldest
  unsigned learned_;        // since it forgot
};

}  // namespace mallow::os
