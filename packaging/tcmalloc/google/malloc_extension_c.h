/* tcmalloc's name for mallow/tc_extension.h. */
#ifndef MALLOW_GOOGLE_MALLOC_EXTENSION_C_H
#define MALLOW_GOOGLE_MALLOC_EXTENSION_C_H

#include <mallow/tc_extension.h>

#endif
