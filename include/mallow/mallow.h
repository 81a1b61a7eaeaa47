/* The C interface of libmallow, beside malloc.h itself.
 *
 * A program need not be linked with libmallow to use it: declare the function weak, and it is null when
 * libmallow is not there. All functions may be called from any thread at any time and never fail.
 */
#ifndef MALLOW_MALLOW_H
#define MALLOW_MALLOW_H

#ifdef __cplusplus
extern "C" {
#endif

/* "MAJOR.MINOR.PATCH" of the libmallow that serves this process. Static text. */
const char* mallow_version(void);

/* 1 while the allocations of this process are being recorded, else 0. */
int mallow_is_recording(void);

/* The settings that MALLOW_OPTIONS knows, one line each: name, two blanks, what it does. Static text. */
const char* mallow_options_help(void);

#ifdef __cplusplus
}
#endif

#endif
