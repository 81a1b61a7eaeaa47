// The twelve forms of operator delete: each is free, or C23's sized free.
#include <new>

#include "api/export.h"
#include "api/hit.h"
#include "api/own.h"

using namespace mallow::api;

MALLOW_EXPORT void operator delete(void* p) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete[](void* p) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete(void* p, size_t bytes) noexcept { FreeSizedBlock(p, bytes); }
MALLOW_EXPORT void operator delete[](void* p, size_t bytes) noexcept { FreeSizedBlock(p, bytes); }
MALLOW_EXPORT void operator delete(void* p, const std::nothrow_t&) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete[](void* p, const std::nothrow_t&) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete(void* p, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete[](void* p, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete(void* p, size_t bytes, std::align_val_t) noexcept {
  FreeSizedBlock(p, bytes);
}
MALLOW_EXPORT void operator delete[](void* p, size_t bytes, std::align_val_t) noexcept {
  FreeSizedBlock(p, bytes);
}
MALLOW_EXPORT void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  FreeBlock(p);
}
MALLOW_EXPORT void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  FreeBlock(p);
}

MALLOW_OWN(_ZdaPv);
MALLOW_OWN(_ZdlPvm);
MALLOW_OWN(_ZdaPvm);
MALLOW_OWN(_ZdlPvRKSt9nothrow_t);
MALLOW_OWN(_ZdaPvRKSt9nothrow_t);
MALLOW_OWN(_ZdaPvSt11align_val_t);
MALLOW_OWN(_ZdlPvmSt11align_val_t);
MALLOW_OWN(_ZdaPvmSt11align_val_t);
MALLOW_OWN(_ZdlPvSt11align_val_tRKSt9nothrow_t);
MALLOW_OWN(_ZdaPvSt11align_val_tRKSt9nothrow_t);
MALLOW_OWN(_ZdlPv);
