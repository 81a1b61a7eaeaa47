// In libmallow.so: what pthread_atfork calls, so that libmallow's handlers are registered before those of anybody else, who may
// come before the first malloc. They are the last to run before a fork then: who waits in a handler for a mutex waits for
// a thread that holds it, and that one may wait for the heap.
#include <cstdint>

#include "api/export.h"
#include "api/exported_symbol.h"
#include "api/object.h"
#include "api/process_malloc.h"
#include "api/startup.h"

namespace mallow::api {
namespace {

using Handler = void (*)();
using Register = int (*)(Handler, Handler, Handler, void*);

constexpr char kRegister[] = "__register_atfork";

}  // namespace
}  // namespace mallow::api

using namespace mallow::api;

extern "C" MALLOW_EXPORT int __register_atfork(Handler prepare, Handler parent, Handler child, void* dso) {
  if (ServesProcess()) EnsureStarted();
  const link_map* const own = ObjectOf(reinterpret_cast<const void*>(StartLibraryOrAttend));
  const void* next = FindExportedSymbolBehind(own, kRegister);
  // This library itself came late.
  if (next == nullptr) next = FindExportedSymbol(kRegister);
  return reinterpret_cast<Register>(reinterpret_cast<uintptr_t>(next))(prepare, parent, child, dso);
}
