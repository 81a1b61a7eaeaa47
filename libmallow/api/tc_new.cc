// The tc_ names of operator new: apart from tc.cc, because whoever takes them from libmallow.a needs a C++ runtime.
#include "api/export.h"
#include "api/hit.h"
#include "api/slow.h"
#include "mallow/tc.h"

using namespace mallow::api;

extern "C" {

MALLOW_EXPORT void* tc_new(size_t bytes) {
  void* p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<Function::kNew>(bytes);
}

MALLOW_EXPORT void* tc_newarray(size_t bytes) {
  void* p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<Function::kNewArray>(bytes);
}

MALLOW_EXPORT void* tc_new_nothrow(size_t bytes, const std::nothrow_t&) noexcept {
  void* p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<Function::kNewNothrow>(bytes);
}

MALLOW_EXPORT void* tc_newarray_nothrow(size_t bytes, const std::nothrow_t&) noexcept {
  void* p = HitAllocate(bytes);
  return MALLOW_LIKELY(p != nullptr) ? p : SlowNew<Function::kNewArrayNothrow>(bytes);
}

MALLOW_EXPORT void* tc_new_aligned(size_t bytes, std::align_val_t alignment) {
  return SlowNewAligned<Function::kNewAligned>(bytes, static_cast<size_t>(alignment));
}

MALLOW_EXPORT void* tc_newarray_aligned(size_t bytes, std::align_val_t alignment) {
  return SlowNewAligned<Function::kNewArrayAligned>(bytes, static_cast<size_t>(alignment));
}

MALLOW_EXPORT void* tc_new_aligned_nothrow(size_t bytes, std::align_val_t alignment,
                                           const std::nothrow_t&) noexcept {
  return SlowNewAligned<Function::kNewAlignedNothrow>(bytes, static_cast<size_t>(alignment));
}

MALLOW_EXPORT void* tc_newarray_aligned_nothrow(size_t bytes, std::align_val_t alignment,
                                                const std::nothrow_t&) noexcept {
  return SlowNewAligned<Function::kNewArrayAlignedNothrow>(bytes, static_cast<size_t>(alignment));
}

}  // extern "C"
