// In libmallow.so: what a program calls that is recorded from its start on, every call of it or samples.
//
// No hit path ever hits then: a call would go to the end of one, and only there to the slow function that asks the recorder; a
// free would ask for the class of a page, which it does not need. So once, before there is a second thread, the functions
// that are called most are made a jump to the recorder's. Those may leave out what the slow functions ask before,
// because such a process is given no orders and only the recorder knows whether it still records: it refuses every call from
// then on.
#include <sys/single_threaded.h>

#include "api/own.h"
#include "api/redirect.h"
#include "api/slow.h"
#include "base/config.h"

namespace mallow::api {
namespace {

// Of those whose last ones may call what the program has.
template <size_t kCount>
void RedirectAll(const Redirection (&all)[kCount], bool forwards) {
  constexpr size_t kThatMayForward = 4;
  Redirect(all, kCount - (forwards ? kThatMayForward : 0));
}

void AskForSamples(bool forwards) {
  const Redirection all[] = {
      To(own::Malloc, record::AllocateNoSample, OtherMalloc),
      To(own::Free, record::FreeNoSample, OtherFree),
      To(own::New, record::AllocateNoSample, OtherNew<Function::kNew>),
      To(own::Delete, record::FreeNoSample, OtherFree),
      To(own::NewArray, record::AllocateNoSample, OtherNew<Function::kNewArray>),
      To(own::DeleteArray, record::FreeNoSample, OtherFree),
      To(own::DeleteSized, record::FreeNoSampleSized, OtherFreeSized),
      To(own::DeleteArraySized, record::FreeNoSampleSized, OtherFreeSized),
  };
  RedirectAll(all, forwards);
}

}  // namespace

MALLOW_COLD void AskRecorderFirst(bool forwards) {
  if (!__libc_single_threaded) return;
  if (record::g_sampling) return AskForSamples(forwards);
  const Redirection all[] = {
      To(own::Malloc, record::HitAllocate<Function::kMalloc>, OtherMalloc),
      To(own::Calloc, SlowCalloc),
      To(own::Realloc, SlowRealloc),
      To(own::Free, record::HitRelease, OtherFree),
      To(own::New, record::HitAllocate<Function::kNew>, OtherNew<Function::kNew>),
      To(own::Delete, record::HitRelease, OtherFree),
      To(own::NewArray, record::HitAllocate<Function::kNewArray>, OtherNew<Function::kNewArray>),
      To(own::DeleteArray, record::HitRelease, OtherFree),
      To(own::DeleteSized, record::HitReleaseSized, OtherFreeSized),
      To(own::DeleteArraySized, record::HitReleaseSized, OtherFreeSized),
  };
  RedirectAll(all, forwards);
}

}  // namespace mallow::api
