// In libmallow.so: what a program calls while every call of it is recorded from its start on.
//
// No hit path ever hits then: a call would go to the end of one, and only there to the slow function that asks the recorder; a
// free would ask for the class of a page, which it does not need. So once, before there is a second thread, the functions
// that are called most are made a jump to that slow function.
#include <sys/single_threaded.h>

#include "api/own.h"
#include "api/redirect.h"
#include "api/slow.h"
#include "base/config.h"

namespace mallow::api {

MALLOW_COLD void AskRecorderFirst(bool forwards) {
  if (!__libc_single_threaded) return;
  // The forms for arrays last: they may call what the program has. Sized delete stays: it looks at the size.
  const Redirection redirections[] = {
      To(own::Malloc, SlowMalloc),
      To(own::Calloc, SlowCalloc),
      To(own::Realloc, SlowRealloc),
      To(own::Free, SlowFree),
      To(own::New, SlowNew<Function::kNew>),
      To(own::Delete, SlowFree),
      To(own::NewArray, SlowNew<Function::kNewArray>),
      To(own::DeleteArray, SlowFree),
  };
  constexpr size_t kOfArrays = 2;
  Redirect(redirections, sizeof(redirections) / sizeof(*redirections) - (forwards ? kOfArrays : 0));
}

}  // namespace mallow::api
