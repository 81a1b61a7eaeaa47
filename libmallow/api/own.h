// Second names for the code of what this library exports: it is ours, whatever the process uses under the first.
// See redirect.h.
#pragma once

// In the file that defines the function.
#define MALLOW_OWN(symbol)         \
  asm(".globl mallow_own" #symbol  \
      "\n"                         \
      ".hidden mallow_own" #symbol \
      "\n"                         \
      ".set mallow_own" #symbol "," #symbol)

namespace mallow::api::own {

#pragma GCC visibility push(hidden)
extern char NewArray[] asm("mallow_own_Znam");
extern char NewNothrow[] asm("mallow_own_ZnwmRKSt9nothrow_t");
extern char NewArrayNothrow[] asm("mallow_own_ZnamRKSt9nothrow_t");
extern char NewArrayAligned[] asm("mallow_own_ZnamSt11align_val_t");
extern char NewAlignedNothrow[] asm("mallow_own_ZnwmSt11align_val_tRKSt9nothrow_t");
extern char NewArrayAlignedNothrow[] asm("mallow_own_ZnamSt11align_val_tRKSt9nothrow_t");
extern char DeleteArray[] asm("mallow_own_ZdaPv");
extern char DeleteSized[] asm("mallow_own_ZdlPvm");
extern char DeleteArraySized[] asm("mallow_own_ZdaPvm");
extern char DeleteNothrow[] asm("mallow_own_ZdlPvRKSt9nothrow_t");
extern char DeleteArrayNothrow[] asm("mallow_own_ZdaPvRKSt9nothrow_t");
extern char DeleteArrayAligned[] asm("mallow_own_ZdaPvSt11align_val_t");
extern char DeleteSizedAligned[] asm("mallow_own_ZdlPvmSt11align_val_t");
extern char DeleteArraySizedAligned[] asm("mallow_own_ZdaPvmSt11align_val_t");
extern char DeleteAlignedNothrow[] asm("mallow_own_ZdlPvSt11align_val_tRKSt9nothrow_t");
extern char DeleteArrayAlignedNothrow[] asm("mallow_own_ZdaPvSt11align_val_tRKSt9nothrow_t");
extern char Malloc[] asm("mallow_ownmalloc");
extern char Calloc[] asm("mallow_owncalloc");
extern char Realloc[] asm("mallow_ownrealloc");
extern char Free[] asm("mallow_ownfree");
extern char New[] asm("mallow_own_Znwm");
extern char Delete[] asm("mallow_own_ZdlPv");
#pragma GCC visibility pop

}  // namespace mallow::api::own
