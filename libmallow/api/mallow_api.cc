#include <errno.h>
#include <string.h>

#include "api/options.h"
#include "api/startup.h"
#include "base/bits.h"
#include "base/config.h"
#include "heap/page_heap.h"
#include "heap/statistics.h"
#include "mallow/mallow.h"
#include "record/control.h"
#include "record/recorder.h"
#include "record/thread_counts.h"

namespace {

int ErrorOf(mallow::record::ControlResult result) {
  using enum mallow::record::ControlResult;
  switch (result) {
    case kDone:
      return 0;
    case kCannotRecord:
      return EIO;
    case kRecording:
    case kNotRecording:
      return EALREADY;
    case kBadOrder:
      return EINVAL;
    case kNoRecorder:
      break;
  }
  return ENOTSUP;
}

}  // namespace

extern "C" {

MALLOW_EXPORT const char* mallow_version(void) { return MALLOW_VERSION; }

MALLOW_EXPORT int mallow_is_recording(void) {
  mallow::api::EnsureStarted();
  return mallow::record::g_recording ? 1 : 0;
}

MALLOW_EXPORT int mallow_record_start(const char* folder) {
  mallow::api::EnsureStarted();
  return ErrorOf(mallow::record::StartRecording(folder));
}

MALLOW_EXPORT int mallow_record_stop(void) {
  mallow::api::EnsureStarted();
  return ErrorOf(mallow::record::StopRecording());
}

MALLOW_EXPORT int mallow_record_snapshot(const char* folder) {
  mallow::api::EnsureStarted();
  return ErrorOf(mallow::record::Snapshot(folder));
}

MALLOW_EXPORT size_t mallow_statistics(struct mallow_statistics* statistics, size_t size) {
  mallow::api::EnsureStarted();
  const mallow::heap::Statistics heap = mallow::heap::GetStatistics();
  struct mallow_statistics known = {};
  known.system_bytes = heap.system_bytes;
  known.in_use_bytes = heap.in_use_bytes;
  known.thread_cache_bytes = heap.thread_cache_bytes;
  known.transfer_cache_bytes = heap.transfer_cache_bytes;
  known.central_list_bytes = heap.central_list_bytes;
  known.page_heap_bytes = heap.page_heap_bytes;
  known.tail_bytes = heap.tail_bytes;
  known.returned_bytes = heap.returned_bytes;
  known.metadata_bytes = heap.metadata_bytes;
  known.in_use_blocks = heap.in_use_blocks;
  known.large_blocks = heap.large_blocks;
  known.large_bytes = heap.large_bytes;
  known.thread_caches = heap.thread_caches;
  known.map_calls = heap.map_calls;
  known.metadata_resident_bytes = mallow::heap::page_heap.MetadataResidentBytes();
  memset(statistics, 0, size);
  memcpy(statistics, &known, mallow::Min(size, sizeof(known)));
  return sizeof(known);
}

MALLOW_EXPORT size_t mallow_thread_statistics(struct mallow_thread_statistics* statistics, size_t size) {
  mallow::api::EnsureStarted();
  memset(statistics, 0, size);
  mallow::record::ThreadCounts counts;
  if (!mallow::record::CountThread(&counts)) return 0;
  const struct mallow_thread_statistics known = {counts.allocations, counts.bytes, counts.libc_allocations};
  memcpy(statistics, &known, mallow::Min(size, sizeof(known)));
  return sizeof(known);
}

MALLOW_EXPORT const char* mallow_options_help(void) { return mallow::api::kOptionsHelp; }

}  // extern "C"
