// operator new when there is no memory. The one file that is compiled with exceptions: a new handler may throw,
// which the forms that return null must turn into null. The runtime that it takes is referred to weakly.
#include "api/cxx_runtime.h"
#include "api/slow.h"

asm(".weak __gxx_personality_v0\n\t.weak __cxa_begin_catch\n\t.weak __cxa_end_catch\n\t.weak "
    "__cxa_rethrow\n\t"
    ".weak _Unwind_Resume");

// Null where the program has its unwinder linked in (-static-libgcc) and keeps it for itself.
extern "C" [[gnu::weak]] void _Unwind_Resume(void* exception);

namespace mallow::api {
namespace {

// Null when there is no handler (any more). None can bring memory of an alignment that is none.
void* ServeAfterHandler(Call& call) {
  if (!IsAlignment(call.alignment)) return nullptr;
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

void* ServeAfterHandlerOrNote(Call& call) {
  try {
    return ServeAfterHandler(call);
  } catch (...) {
    NoteFailure(call);
    throw;
  }
}

}  // namespace

// What a handler throws passes a function that does not catch it without a call of the unwinder.
void* RetryNew(Call& call) {
  const bool catches = record::g_recording && &_Unwind_Resume != nullptr;
  void* const p = catches ? ServeAfterHandlerOrNote(call) : ServeAfterHandler(call);
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
