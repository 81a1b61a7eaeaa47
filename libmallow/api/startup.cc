#include "api/startup.h"

#include <cerrno>

#include "api/fork.h"
#include "api/options.h"
#include "api/process_malloc.h"
#include "heap/heap.h"
#include "os/thread.h"
#include "record/cpu_sampler.h"
#include "record/recorder.h"

namespace mallow::api {

constinit std::atomic<bool> g_started{false};

namespace {

// The thread that starts the library, as ThreadIdentity names it; 0 before.
constinit std::atomic<uintptr_t> g_starter{0};

void StartRecorder(const Options& options) {
  heap::Configure(record::kSideRecordBytes, true);
  record::KeepLog(options.log.value);
  if (record::Start(options.record.text) && options.count_calls.set()) {
    record::CountCalls(options.count_calls.text);
  }
}

void ApplyReleaseOptions(const Options& options) {
  heap::ReleasePolicy policy;
  policy.interval = options.release_interval.nanoseconds();
  policy.keep = options.release_keep.value;
  policy.at_once = options.release_at_once.value;
  heap::SetReleasePolicy(policy);
}

void Start() {
  Options options;
  ReadOptions(&options);
  ApplyReleaseOptions(options);
  if (options.record.set()) {
    StartRecorder(options);
    record::SampleCpu(options.cpu.value);
  }
  // May allocate; by now such a call is like any other. The first handlers to be registered are the last to run
  // before a fork and the first after it, so that those of others find a heap that works.
  LockAtFork();
}

}  // namespace

void StartLibrary() {
  uintptr_t nobody = 0;
  if (g_starter.compare_exchange_strong(nobody, ThreadIdentity(), std::memory_order_relaxed)) {
    const int saved_errno = errno;
    Start();
    errno = saved_errno;
    g_started.store(true, std::memory_order_release);
    return;
  }
  if (nobody == ThreadIdentity()) return;
  while (!g_started.load(std::memory_order_acquire)) os::Nap();
}

namespace {

// A program that never allocates is started too, so that its recording has an image. A library that the process does
// not take its memory from starts at its first call, if there ever is one.
[[gnu::destructor]] void CheckAtExit() {
  record::EndCpuSamples();
  heap::CheckBeforeExit();
}

[[gnu::constructor]] void StartAtLoad() {
  if (!ServesProcess()) return;
  EnsureStarted();
  if (record::g_recording && !ServesMalloc()) record::NoteOwnMalloc();
}

}  // namespace
}  // namespace mallow::api
