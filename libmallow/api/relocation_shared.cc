// In libmallow.so: what has to be true as soon as it is relocated.
//
// The IFUNC resolver of a program may allocate. It runs while the program is relocated, which is after its libraries and before
// ld.so copies the first values of thread-local variables, which may themselves want relocation: a hit path would find a null
// where the address of the thread's cursors belongs. So ours writes that one, among the last relocations of this library.
#include "heap/thread_registry.h"

namespace mallow::api {
namespace {

using Nothing = void();

void DoNothing() {}

extern "C" Nothing* ResolveNothing() {
  heap::CloseHitPaths();
  return DoNothing;
}

[[gnu::ifunc("ResolveNothing")]] void Unused();
// Or there is nothing to resolve.
[[gnu::used]] Nothing* const unused = Unused;

}  // namespace
}  // namespace mallow::api
