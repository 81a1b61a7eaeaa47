// operator new when there is no memory. The one file that is compiled with exceptions: a new handler may throw,
// which the forms that return null must turn into null. The runtime that it takes is referred to weakly.
#include "api/cxx_runtime.h"
#include "api/slow.h"

asm(".weak __gxx_personality_v0\n\t.weak __cxa_begin_catch\n\t.weak __cxa_end_catch");

namespace mallow::api {
namespace {

// Null when there is no handler (any more).
void* ServeAfterHandler(Call& call) {
  for (;;) {
    const std::new_handler handler = CurrentNewHandler();
    if (handler == nullptr) return nullptr;
    handler();
    if (void* p = Serve(call)) return p;
  }
}

}  // namespace

void* RetryNew(Call& call) {
  if (void* p = ServeAfterHandler(call)) return p;
  ThrowBadAlloc();
}

void* RetryNewNothrow(Call& call) {
  try {
    return ServeAfterHandler(call);
  } catch (...) {
    return nullptr;
  }
}

}  // namespace mallow::api
