/* tcmalloc's name for mallow/tc.h. */
#ifndef MALLOW_GPERFTOOLS_TCMALLOC_H
#define MALLOW_GPERFTOOLS_TCMALLOC_H

#include <mallow/tc.h>

#endif
