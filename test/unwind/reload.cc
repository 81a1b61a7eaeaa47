// A library is unloaded and another one comes to the same addresses, with other unwind tables for the same pcs.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "capture_here.h"
#include "oracle.h"

namespace {

using mallow::unwind_test::CaptureHere;

void CaptureTwice() {
  CaptureHere();
  CaptureHere();
}

// Whether the library is the last or the first whose tables are looked at while it is loaded; both come by turns.
enum class Look { kInside, kLast, kFirst };

// The address at which the library's function was.
uintptr_t CallThrough(const char* path, Look look) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "reload: %s\n", dlerror());
    return 0;
  }
  auto through = reinterpret_cast<void (*)(void (*)())>(dlsym(library, "ReloadThrough"));
  if (look == Look::kInside) through(CaptureTwice);
  if (look == Look::kLast) CaptureHere();
  if (look != Look::kInside) through(CaptureHere);
  dlclose(library);
  // The handle is the link map, which the dynamic linker has just freed.
  mallow::record::LoaderFreed(library);
  mallow::unwind_test::FlushOracle();
  return reinterpret_cast<uintptr_t>(through);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int reused = 0;
  uintptr_t last = 0;
  for (int round = 0; round < 40; ++round) {
    const Look look = round < 20 ? Look::kInside : round % 2 == 0 ? Look::kLast : Look::kFirst;
    const uintptr_t place = CallThrough(argv[1 + round % 2], look);
    if (place == 0) return 2;
    reused += place == last;
    last = place;
  }
  printf("addresses reused %d times\n", reused);
  if (reused == 0) {
    fprintf(stderr, "reload: vacuous, no address was used again\n");
    return 1;
  }
  return mallow::unwind_test::Report("reload");
}
