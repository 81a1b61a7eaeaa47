// In libmallow.so: what a program calls while every call of it is recorded from its start on.
//
// No hit path ever hits then: a call would go to the end of one, and only there to the slow function that asks the recorder; a
// free would ask for the class of a page, which it does not need. So once, before there is a second thread, the functions
// that are called most are made a jump to one that asks the recorder. It may leave out what the slow functions ask before,
// because such a process is given no orders and only the recorder knows whether it still records: it refuses every call from
// then on.
#include <sys/single_threaded.h>

#include "api/own.h"
#include "api/redirect.h"
#include "api/slow.h"
#include "base/config.h"

namespace mallow::api {
namespace {

void* RecorderFirstMalloc(size_t bytes) {
  return record::HitAllocate<Function::kMalloc>(bytes, &OtherMalloc);
}

template <Function function>
void* RecorderFirstNew(size_t bytes) {
  return record::HitAllocate<function>(bytes, &OtherNew<function>);
}

void RecorderFirstFree(void* p) { record::HitRelease(p, &OtherFree); }

}  // namespace

MALLOW_COLD void AskRecorderFirst(bool forwards) {
  if (!__libc_single_threaded) return;
  // The forms for arrays last: they may call what the program has. Sized delete stays: it looks at the size.
  const Redirection redirections[] = {
      To(own::Malloc, RecorderFirstMalloc),
      To(own::Calloc, SlowCalloc),
      To(own::Realloc, SlowRealloc),
      To(own::Free, RecorderFirstFree),
      To(own::New, RecorderFirstNew<Function::kNew>),
      To(own::Delete, RecorderFirstFree),
      To(own::NewArray, RecorderFirstNew<Function::kNewArray>),
      To(own::DeleteArray, RecorderFirstFree),
  };
  constexpr size_t kOfArrays = 2;
  Redirect(redirections, sizeof(redirections) / sizeof(*redirections) - (forwards ? kOfArrays : 0));
}

}  // namespace mallow::api
