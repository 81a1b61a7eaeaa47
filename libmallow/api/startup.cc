#include "api/startup.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "api/fork.h"
#include "api/options.h"
#include "api/process_malloc.h"
#include "heap/heap.h"
#include "os/thread.h"
#include "record/control.h"
#include "record/cpu_sampler.h"
#include "record/recorder.h"

namespace mallow::api {

namespace {

// Whoever takes anything from the archive takes malloc and free from it too: a linker that optimizes learns too late that the
// program calls these, and would leave them to libc.
[[gnu::used]] void* (*const kMalloc)(size_t) = malloc;

constinit std::atomic<bool> started{false};

// The thread that starts the library, as ThreadIdentity names it; 0 before.
constinit std::atomic<uintptr_t> g_starter{0};

// A control file was asked for.
constinit bool controlled = false;

constinit uint64_t cpu_hertz = 0;

void StartRecorder(const Options& options) {
  if (options.log.value != 0 || options.cpu.value != 0 || options.count_calls.set()) record::RecordToTheEnd();
  record::KeepLog(options.log.value);
  record::SampleEvery(options.sample.value);
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

MALLOW_COLD void StartAsOptionsSay() {
  Options options;
  ReadOptions(&options);
  ApplyReleaseOptions(options);
  if (options.record.set()) {
    StartRecorder(options);
    cpu_hertz = options.cpu.value;
  } else if (options.control.set()) {
    controlled = true;
    record::OpenControl(options.control.text);
  }
}

void Start() {
  // The texts of options take some pages of the stack, which a small program never uses otherwise.
  if (OptionsMayBeSet()) StartAsOptionsSay();
  heap::SeeThreadsEnd();
  // May allocate; by now such a call is like any other. The first handlers to be registered are the last to run
  // before a fork and the first after it, so that those of others find a heap that works.
  LockAtFork();
  // Last: a sample of the library's own start would look like a malloc of the program's.
  record::SampleCpu(cpu_hertz);
}

}  // namespace

MALLOW_ALIGNS_STACK void StartLibraryOrAttend() {
  if (started.load(std::memory_order_acquire)) return record::Attend();
  uintptr_t nobody = 0;
  if (g_starter.compare_exchange_strong(nobody, ThreadIdentity(), std::memory_order_relaxed)) {
    const int saved_errno = errno;
    Start();
    errno = saved_errno;
    started.store(true, std::memory_order_release);
    controlled ? record::AwaitOrders() : record::ExpectNoOrders();
    return;
  }
  if (nobody == ThreadIdentity()) return;
  while (!started.load(std::memory_order_acquire)) os::Nap();
}

namespace {

// A program that never allocates is started too, so that its recording has an image. A library that the process does
// not take its memory from starts at its first call, if there ever is one.
[[gnu::destructor]] void CheckAtExit() {
  if (record::g_recording) record::EndCpuSamples();
  heap::CheckBeforeExit();
  if (controlled) record::CloseControl();
}

// The first of the library's constructors: RedirectAtLoad asks what has come of it.
[[gnu::constructor(1000)]] void StartAtLoad() {
  if (!ServesProcess()) return;
  EnsureStarted();
  if (record::g_recording && !ServesMalloc()) record::NoteOwnMalloc();
}

}  // namespace
}  // namespace mallow::api
