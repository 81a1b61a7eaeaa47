// The environment at the start of the process, readable before libc is ready: no locks, no getenv.
#pragma once

#include "base/config.h"

namespace mallow::os {

// In place of a length.
inline constexpr long kNotSet = -1, kTooLong = -2;

// Copies the value of `name` into `value`, zero-terminated. Returns its length, or one of the above. Reads libc's
// environment when there is one, else /proc/self/environ. Not safe against a thread that changes the environment at the same
// time: call it while the process starts.
long ReadEnvironment(const char* name, char* value, size_t capacity);

// Whether that may find a value. No is certain.
bool MayBeInEnvironment(const char* name);

// True when the program runs with other rights than its caller's (set-user-id, file capabilities): no setting
// from the environment may then be believed.
bool RunsWithRaisedRights();

}  // namespace mallow::os
