// operator new when there is no memory. The one file that is compiled with exceptions: a new handler may throw,
// which the forms that return null must turn into null. The runtime that it takes is referred to weakly.
#include "api/cxx_runtime.h"
#include "api/slow.h"

asm(".weak __gxx_personality_v0\n\t.weak __cxa_begin_catch\n\t.weak __cxa_end_catch\n\t.weak "
    "__cxa_rethrow\n\t"
    ".weak _Unwind_Resume");

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

// However often the handler was asked, one call failed.
void NoteFailure(const Call& call) {
  const size_t bytes = call.bytes <= kMaxBytes ? call.bytes : SIZE_MAX;
  if (record::g_recording) record::NoteFailed(call.function, bytes, call.caller);
}

}  // namespace

void* RetryNew(Call& call) {
  void* p;
  try {
    p = ServeAfterHandler(call);
  } catch (...) {
    NoteFailure(call);
    throw;
  }
  if (p != nullptr) return p;
  NoteFailure(call);
  ThrowBadAlloc();
}

void* RetryNewNothrow(Call& call) {
  void* p = nullptr;
  try {
    p = ServeAfterHandler(call);
  } catch (...) {
  }
  if (p == nullptr) NoteFailure(call);
  return p;
}

}  // namespace mallow::api
