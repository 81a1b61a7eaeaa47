// In libmallow.so: what a program calls while every call of it is recorded from its start on.
//
// No hit path hits then: a call would go to the end of one, and only there to the recorder; a free would ask for the class of
// a page, which it does not need. So once, before there is a second thread, the functions that are called most are
// made a jump to one that asks the recorder first.
#include <sys/single_threaded.h>

#include <cstring>

#include "api/hit.h"
#include "api/own.h"
#include "api/redirect.h"
#include "api/slow.h"
#include "base/config.h"

namespace mallow::api {
namespace {

// Each ends in one jump to the recorder, with all registers as the caller left them. What is no common call, or is not to be
// recorded any more, goes the way that it would have gone. To debuggers and in samples they have the names of what they
// stand for.

void* Malloc(size_t bytes) asm("malloc");
void* Calloc(size_t count, size_t bytes) asm("calloc");
void* Realloc(void* p, size_t bytes) asm("realloc");
void Free(void* p) asm("free");
void* New(size_t bytes) asm("_Znwm");
void* NewArray(size_t bytes) asm("_Znam");

void* Malloc(size_t bytes) {
  if (RecordsEveryCall() && MALLOW_LIKELY(bytes <= heap::kMaxSmallBytes))
    return record::HitAllocate<Function::kMalloc>(bytes, &RecordedMalloc);
  void* const p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowMalloc(bytes);
}

void* Calloc(size_t count, size_t bytes) { return SlowCalloc(count, bytes); }

void* Realloc(void* p, size_t bytes) { return SlowRealloc(p, bytes); }

void Free(void* p) {
  if (RecordsEveryCall()) return record::HitRelease(p, &RecordedFree);
  FreeBlock(p);
}

template <Function function>
MALLOW_ALWAYS_INLINE void* AnyNew(size_t bytes) {
  if (RecordsEveryCall() && MALLOW_LIKELY(bytes <= heap::kMaxSmallBytes))
    return record::HitAllocate<function>(bytes, &RecordedNew<function>);
  void* const p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<function>(bytes);
}
void* New(size_t bytes) { return AnyNew<Function::kNew>(bytes); }
void* NewArray(size_t bytes) { return AnyNew<Function::kNewArray>(bytes); }

template <typename Function>
Redirection To(char* from, Function* to) {
  return {from, reinterpret_cast<const void*>(to)};
}

}  // namespace

MALLOW_COLD void AskRecorderFirst(bool forwards) {
  if (!__libc_single_threaded) return;
  // The forms for arrays last: they may call what the program has.
  const Redirection redirections[] = {
      To(own::Malloc, Malloc),     To(own::Calloc, Calloc),    To(own::Realloc, Realloc),
      To(own::Free, Free),         To(own::New, New),          To(own::Delete, Free),
      To(own::NewArray, NewArray), To(own::DeleteArray, Free),
  };
  constexpr size_t kOfArrays = 2;
  Redirect(redirections, sizeof(redirections) / sizeof(*redirections) - (forwards ? kOfArrays : 0));
}

}  // namespace mallow::api
