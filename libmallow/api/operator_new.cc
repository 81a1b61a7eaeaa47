// The eight forms of operator new.
#include <new>

#include "api/export.h"
#include "api/hit.h"
#include "api/own.h"
#include "api/slow.h"

using namespace mallow::api;

MALLOW_EXPORT void* operator new(size_t bytes) {
  void* p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<Function::kNew>(bytes);
}

MALLOW_EXPORT void* operator new[](size_t bytes) {
  void* p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<Function::kNewArray>(bytes);
}

MALLOW_EXPORT void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  void* p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<Function::kNewNothrow>(bytes);
}

MALLOW_EXPORT void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  void* p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<Function::kNewArrayNothrow>(bytes);
}

MALLOW_EXPORT void* operator new(size_t bytes, std::align_val_t alignment) {
  return SlowNewAligned<Function::kNewAligned>(bytes, static_cast<size_t>(alignment));
}

MALLOW_EXPORT void* operator new[](size_t bytes, std::align_val_t alignment) {
  return SlowNewAligned<Function::kNewArrayAligned>(bytes, static_cast<size_t>(alignment));
}

MALLOW_EXPORT void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return SlowNewAligned<Function::kNewAlignedNothrow>(bytes, static_cast<size_t>(alignment));
}

MALLOW_EXPORT void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return SlowNewAligned<Function::kNewArrayAlignedNothrow>(bytes, static_cast<size_t>(alignment));
}

MALLOW_OWN(_Znam);
MALLOW_OWN(_ZnwmRKSt9nothrow_t);
MALLOW_OWN(_ZnamRKSt9nothrow_t);
MALLOW_OWN(_ZnamSt11align_val_t);
MALLOW_OWN(_ZnwmSt11align_val_tRKSt9nothrow_t);
MALLOW_OWN(_ZnamSt11align_val_tRKSt9nothrow_t);
MALLOW_OWN(_Znwm);
