// In the place of the whole recorder, in the minimal library. Recording is never on, so nothing but Start is ever
// called; the rest is what the linker asks for.
#include "base/check.h"
#include "os/file.h"
#include "record/control.h"
#include "record/cpu_sampler.h"
#include "record/note.h"
#include "record/recorder.h"
#include "record/thread_counts.h"

MALLOW_LEAVE_NOTE(MALLOW_NOTE_TYPE_MINIMAL);

namespace mallow::record {
namespace {

constexpr int kStandardError = 2;
constexpr char kRefusal[] =
    "mallow: cannot record: this is the minimal library, which has no recorder; use libmallow.so\n";

[[noreturn]] MALLOW_COLD void Absent() { Die("the recorder was called, and the minimal library has none"); }

}  // namespace

constinit bool g_recording = false;
constinit bool g_recording_all = false;
constinit bool g_sampling = false;

namespace {

constinit const std::atomic<uint32_t> not_started{1};
}  // namespace

constinit const std::atomic<uint32_t> no_orders{0};
constinit std::atomic<const std::atomic<uint32_t>*> g_attention{&not_started};

void AwaitOrders() { ExpectNoOrders(); }
bool OpenControl(const char*) { return false; }
void RecordToTheEnd() {}
void Attend() {}
void CloseControl() {}
ControlResult StartRecording(const char*) { return ControlResult::kNoRecorder; }
ControlResult StopRecording() { return ControlResult::kNoRecorder; }
ControlResult Snapshot(const char*) { return ControlResult::kNoRecorder; }

bool CountThread(ThreadCounts* counts) {
  *counts = {};
  return false;
}

void SampleEvery(uint64_t) {}

bool Start(const char*) {
  os::WriteAll(kStandardError, kRefusal, sizeof(kRefusal) - 1);
  return false;
}

void KeepLog(uint64_t) {}

template <Function function>
void* HitAllocate(size_t, void* (*)(size_t)) {
  Absent();
}
template void* HitAllocate<Function::kMalloc>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kRealloc>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kNew>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kNewArray>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kNewNothrow>(size_t, void* (*)(size_t));
template void* HitAllocate<Function::kNewArrayNothrow>(size_t, void* (*)(size_t));
void* HitAllocateZeroed(size_t, size_t, void* (*)(size_t, size_t)) { Absent(); }
void* HitReallocate(void*, size_t, void* (*)(void*, size_t)) { Absent(); }
void HitRelease(void*, OtherRelease<>*) { Absent(); }
void HitReleaseSized(void*, size_t, OtherRelease<size_t>*) { Absent(); }
void* Allocate(Function, size_t, const Registers&) { Absent(); }
void* AllocateZeroed(Function, size_t, size_t, const Registers&) { Absent(); }
void* AllocateAligned(Function, size_t, size_t, const Registers&) { Absent(); }
void* Reallocate(Function, void*, size_t, const Registers&) { Absent(); }
bool Release(void*, const Registers&) { Absent(); }
bool IsNoSample(void*, size_t) { Absent(); }
void* AddSample(Function, void*, size_t, const Registers&) { Absent(); }
bool ReleaseNoSample(void*, const void*) { Absent(); }
void* AllocateNoSample(size_t, void* (*)(size_t)) { Absent(); }
void FreeNoSample(void*, void (*)(void*)) { Absent(); }
void FreeNoSampleSized(void*, size_t, void (*)(void*, size_t)) { Absent(); }
void NoteFailed(Function, size_t, const Registers&) { Absent(); }
void BeginWrapped(Function, uintptr_t, const Registers&) { Absent(); }
void EndWrapped() { Absent(); }
uint32_t BeginRegion(const char*) { Absent(); }
void EndRegion() { Absent(); }
void EndRegionsTo(uint32_t) { Absent(); }
void CountUnit(const char*, uint64_t) { Absent(); }
void NoteOwnMalloc() {}
void CountCalls(const char*) { Absent(); }
bool TryBeforeFork() { return true; }
void AfterFork(bool) {}
void PartFromParent() {}
void SampleCpu(uint64_t) {}
void EndCpuSamples() {}

}  // namespace mallow::record
