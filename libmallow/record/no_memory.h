// For tests.
#pragma once

#include "os/memory.h"

namespace mallow::record {

// While it lives the system has no memory to map.
class NoMemory {
 public:
  NoMemory() : functions_(os::SystemMemoryFunctions()) {
    functions_.map = [](void*, size_t) -> void* { return nullptr; };
    os::ReplaceMemoryFunctions(&functions_);
  }
  ~NoMemory() { os::ReplaceMemoryFunctions(nullptr); }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;

 private:
  os::MemoryFunctions functions_;
};

}  // namespace mallow::record
