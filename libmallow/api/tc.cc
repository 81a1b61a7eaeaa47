// The tc_ names of malloc and free. The hit paths are those of malloc.cc; nothing else knows these names.
#include "mallow/tc.h"

#include <cstring>

#include "api/aligned.h"
#include "api/export.h"
#include "api/hit.h"
#include "api/new_mode.h"

using namespace mallow::api;

namespace mallow::api {

constinit std::atomic<Insist> g_insist{nullptr};

}  // namespace mallow::api

extern "C" {

MALLOW_EXPORT const char* tc_version(int* major, int* minor, const char** patch) noexcept {
  if (major != nullptr) *major = TC_VERSION_MAJOR;
  if (minor != nullptr) *minor = TC_VERSION_MINOR;
  if (patch != nullptr) *patch = TC_VERSION_PATCH;
  return TC_VERSION_STRING;
}

MALLOW_EXPORT void* tc_malloc(size_t bytes) noexcept {
  void* p = HitAllocate(bytes);
  if (MALLOW_LIKELY(p != nullptr)) return p;
  return ServeInMode([bytes] { return SlowMalloc(bytes); });
}

MALLOW_EXPORT void* tc_malloc_skip_new_handler(size_t bytes) noexcept {
  void* p = HitAllocate(bytes);
  if (MALLOW_LIKELY(p != nullptr)) return p;
  return SlowMalloc(bytes);
}

MALLOW_EXPORT void tc_free(void* p) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_free_sized(void* p, size_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_cfree(void* p) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_delete(void* p) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_delete_sized(void* p, size_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_deletearray(void* p) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_deletearray_sized(void* p, size_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_delete_nothrow(void* p, const std::nothrow_t&) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_deletearray_nothrow(void* p, const std::nothrow_t&) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_delete_aligned(void* p, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_deletearray_aligned(void* p, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_delete_sized_aligned(void* p, size_t, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_deletearray_sized_aligned(void* p, size_t, std::align_val_t) noexcept { FreeBlock(p); }
MALLOW_EXPORT void tc_delete_aligned_nothrow(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  FreeBlock(p);
}
MALLOW_EXPORT void tc_deletearray_aligned_nothrow(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  FreeBlock(p);
}

MALLOW_EXPORT void* tc_calloc(size_t count, size_t bytes) noexcept {
  size_t total;
  void* p = __builtin_mul_overflow(count, bytes, &total) ? nullptr : HitAllocate(total);
  if (MALLOW_LIKELY(p != nullptr)) return memset(p, 0, total);
  return ServeInMode([count, bytes] { return SlowCalloc(count, bytes); });
}

MALLOW_EXPORT void* tc_realloc(void* p, size_t bytes) noexcept {
  // Freeing gives null too, which is no reason to ask for memory.
  if (bytes == 0 && p != nullptr) return SlowRealloc(p, 0);
  return ServeInMode([p, bytes] { return SlowRealloc(p, bytes); });
}

MALLOW_EXPORT void* tc_memalign(size_t alignment, size_t bytes) noexcept {
  if (alignment > kLargestAlignment) return BadAlignment<Function::kMemalign>();
  return ServeInMode([alignment, bytes] { return AlignedUp<Function::kMemalign>(alignment, bytes); });
}

MALLOW_EXPORT int tc_posix_memalign(void** result, size_t alignment, size_t bytes) noexcept {
  const Insist insist = g_insist.load(std::memory_order_relaxed);
  int status = AlignedInto(result, alignment, bytes);
  if (MALLOW_LIKELY(insist == nullptr || status != ENOMEM)) return status;
  const auto again = [&] { return AlignedInto(result, alignment, bytes) == 0 ? *result : nullptr; };
  return ServeInMode(again) != nullptr ? 0 : ENOMEM;
}

MALLOW_EXPORT void* tc_valloc(size_t bytes) noexcept {
  return ServeInMode([bytes] { return SlowAligned<Function::kValloc>(SystemPageBytes(), bytes); });
}

MALLOW_EXPORT void* tc_pvalloc(size_t bytes) noexcept {
  return ServeInMode([bytes] { return SlowAligned<Function::kPvalloc>(SystemPageBytes(), bytes); });
}

}  // extern "C"
