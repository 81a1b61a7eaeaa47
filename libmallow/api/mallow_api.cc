#include "api/options.h"
#include "api/startup.h"
#include "base/config.h"
#include "mallow/mallow.h"
#include "record/recorder.h"

extern "C" {

MALLOW_EXPORT const char* mallow_version(void) { return MALLOW_VERSION; }

MALLOW_EXPORT int mallow_is_recording(void) {
  mallow::api::EnsureStarted();
  return mallow::record::g_recording ? 1 : 0;
}

MALLOW_EXPORT const char* mallow_options_help(void) { return mallow::api::kOptionsHelp; }

}  // extern "C"
