/* tcmalloc's name for mallow/tc_extension.h. */
#ifndef MALLOW_GPERFTOOLS_MALLOC_EXTENSION_C_H
#define MALLOW_GPERFTOOLS_MALLOC_EXTENSION_C_H

#include <mallow/tc_extension.h>

#endif
