// What a program tells of its work (mallow.h, which calls these by weak references and so is not included here).
#include <cstdint>

#include "api/startup.h"
#include "base/config.h"
#include "record/recorder.h"

extern "C" {

MALLOW_EXPORT unsigned mallow_region_begin(const char* name);
MALLOW_EXPORT void mallow_region_end(void);
MALLOW_EXPORT void mallow_region_return_to(unsigned depth);
MALLOW_EXPORT void mallow_unit(const char* name, uint64_t amount);

unsigned mallow_region_begin(const char* name) {
  mallow::api::EnsureStarted();
  if (MALLOW_LIKELY(!mallow::record::g_recording) || name == nullptr) return 0;
  return mallow::record::BeginRegion(name);
}

void mallow_region_end(void) {
  if (MALLOW_UNLIKELY(mallow::record::g_recording)) mallow::record::EndRegion();
}

void mallow_region_return_to(unsigned depth) {
  if (MALLOW_UNLIKELY(mallow::record::g_recording)) mallow::record::EndRegionsTo(depth);
}

void mallow_unit(const char* name, uint64_t amount) {
  mallow::api::EnsureStarted();
  if (MALLOW_UNLIKELY(mallow::record::g_recording) && name != nullptr)
    mallow::record::CountUnit(name, amount);
}

}  // extern "C"
