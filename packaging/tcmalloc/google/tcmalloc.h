/* tcmalloc's name for mallow/tc.h. */
#ifndef MALLOW_GOOGLE_TCMALLOC_H
#define MALLOW_GOOGLE_TCMALLOC_H

#include <mallow/tc.h>

#endif
