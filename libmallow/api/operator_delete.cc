// The twelve forms of operator delete: each is free.
#include <new>

#include "api/export.h"
#include "api/hit.h"

using namespace mallow::api;

MALLOW_EXPORT void operator delete(void* p) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete[](void* p) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete(void* p, size_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete[](void* p, size_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete(void* p, const std::nothrow_t&) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete[](void* p, const std::nothrow_t&) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete(void* p, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete[](void* p, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete(void* p, size_t, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete[](void* p, size_t, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  FreeBlock(p);
}
MALLOW_EXPORT void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  FreeBlock(p);
}
