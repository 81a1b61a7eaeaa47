// Prints the version of the malloc that serves it. Throws through operator new, which needs the C++ runtime of the
// program.
#include <mallow/mallow.h>
#include <mallow/tc_extension.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

bool IsOwned(const void* p) { return MallocExtension_GetOwnership(p) == MallocExtension_kOwned; }

struct alignas(256) Wide {
  char bytes[300];
};

bool ThrowsWhereThereIsNoMemory() {
  volatile size_t bytes = SIZE_MAX / 4;
  try {
    ::operator delete(::operator new(bytes));
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  const std::vector<std::string> words(100, "longer than what a string holds in itself");
  const auto wide = std::make_unique<Wide[]>(3);
  if (!IsOwned(words.data()) || !IsOwned(words.back().data()) || !IsOwned(wide.get()) ||
      reinterpret_cast<uintptr_t>(wide.get()) % alignof(Wide) != 0) {
    std::puts("mallow is there, but some blocks are not its own");
  } else if (!ThrowsWhereThereIsNoMemory()) {
    std::puts("operator new does not throw");
  } else {
    std::printf("mallow %s\n", mallow_version());
  }
  return 0;
}
