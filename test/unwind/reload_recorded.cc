// For the recorder: allocates below libraries that come to the same addresses with other unwind tables, one after the other.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

namespace {

void AllocateTwice() {
  free(malloc(24));
  free(malloc(40));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int reused = 0;
  uintptr_t last = 0;
  for (int round = 0; round < 40; ++round) {
    void* library = dlopen(argv[1 + round % 2], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 2;
    auto through = reinterpret_cast<void (*)(void (*)())>(dlsym(library, "ReloadThrough"));
    for (int call = 0; call < 3; ++call) through(AllocateTwice);
    dlclose(library);
    reused += reinterpret_cast<uintptr_t>(through) == last;
    last = reinterpret_cast<uintptr_t>(through);
  }
  if (reused == 0) fprintf(stderr, "reload: vacuous, no address was used again\n");
  return reused == 0;
}
