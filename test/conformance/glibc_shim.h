/* What glibc's build gives its tests beside the public headers: enough for the tests of its malloc. */
#ifndef MALLOW_TEST_CONFORMANCE_GLIBC_SHIM_H
#define MALLOW_TEST_CONFORMANCE_GLIBC_SHIM_H

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <sys/cdefs.h>

#define attribute_hidden
#define libc_hidden_proto(...)
#define libc_hidden_def(...)
#define __set_errno(error) (errno = (error))
#define IS_IN(module) 0
#define TIMEOUTFACTOR 1

#ifndef __glibc_likely
#define __glibc_likely(condition) __builtin_expect((condition), 1)
#define __glibc_unlikely(condition) __builtin_expect((condition), 0)
#endif

#endif
