// What the program tells of its work: regions and units.
#include "base/config.h"
#include "record/process.h"
#include "record/recorder.h"

namespace mallow::record {
namespace {

// The calling thread within the recorder. Not valid when it has no recorder, or is in there already: a signal handler
// interrupted it.
class Inside {
 public:
  Inside() {
    while ((thread_ = g_process.Current()) != nullptr && !thread_->state.busy) {
      thread_->state.busy = true;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      // Only now: a handler may have forked up to here.
      if (g_process.IsOfNow(*thread_)) return;
      thread_->state.busy = false;
    }
    thread_ = nullptr;
  }
  ~Inside() {
    if (thread_ == nullptr) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_->state.busy = false;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  explicit operator bool() const { return thread_ != nullptr; }
  ThreadRecorder& thread() const { return *thread_; }
  OpenRegions& regions() const { return thread_->regions; }

 private:
  ThreadRecorder* thread_;
};

MALLOW_COLD void Lost() {
  // A fork child that could not open a file has none to count in.
  if (g_recording) __atomic_fetch_add(&g_process.header().lost_marks, 1, __ATOMIC_RELAXED);
}

}  // namespace

uint32_t BeginRegion(const char* name) {
  const Inside inside;
  if (!inside) return Lost(), 0;
  const uint32_t depth = inside.regions().depth();
  inside.regions().Begin(inside.thread(), name);
  return depth;
}

void EndRegion() {
  const Inside inside;
  if (!inside) return Lost();
  if (const uint32_t depth = inside.regions().depth()) inside.regions().ReturnTo(inside.thread(), depth - 1);
}

void EndRegionsTo(uint32_t depth) {
  const Inside inside;
  if (!inside) return Lost();
  inside.regions().ReturnTo(inside.thread(), depth);
}

void CountUnit(const char* name, uint64_t amount) {
  const uint64_t begun = g_process.begun();
  g_process.Current();  // a fork child opens its file first
  if (!g_recording) return;
  // A session that has begun meanwhile has only what is called from then on.
  const auto is_late = [begun] { return g_process.begun() != begun; };
  UnitItem* unit = g_process.units().Find(name, UnitSource::kProgram);
  if (MALLOW_UNLIKELY(unit == nullptr)) {
    if (const Inside inside; inside && !is_late()) unit = g_process.units().Add(name, UnitSource::kProgram);
  }
  if (MALLOW_UNLIKELY(is_late())) return;
  if (MALLOW_UNLIKELY(unit == nullptr)) return Lost();
  __atomic_fetch_add(&unit->amount, amount, __ATOMIC_RELAXED);
  __atomic_fetch_add(&unit->calls, 1, __ATOMIC_RELAXED);
}

}  // namespace mallow::record
