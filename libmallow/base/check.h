// Fatal errors: one sentence on descriptor 2, then abort().
//
// MALLOW_CHECK is for damage that must not go on (a pointer that is not ours, a list that leads nowhere);
// exhaustion is never fatal, it is a null result. MALLOW_DCHECK costs nothing without MALLOW_CHECKS.
#pragma once

#include "base/config.h"

namespace mallow {

// Writes "mallow: SENTENCE" and aborts. Allocates nothing; may be called anywhere.
[[noreturn]] MALLOW_COLD void Die(const char* sentence);
// The same, with " (0xADDRESS)" behind the sentence.
[[noreturn]] MALLOW_COLD void DieAt(const char* sentence, const void* address);

// Ends the process as abort() does where nobody handles SIGABRT, and says nothing: for what a handler of it comes to again.
[[noreturn]] MALLOW_COLD void DieUnheard();

[[noreturn]] MALLOW_COLD void CheckFailed(const char* condition, const char* file, int line);

}  // namespace mallow

#define MALLOW_CHECK(condition) \
  (MALLOW_LIKELY(condition) ? (void)0 : ::mallow::CheckFailed(#condition, __FILE__, __LINE__))

#define MALLOW_DCHECK(condition) (::mallow::kChecksEnabled ? MALLOW_CHECK(condition) : (void)0)
