#include "record/cpu_sampler.h"

#include <ucontext.h>

#include "os/clock.h"
#include "os/memory.h"
#include "os/readable.h"
#include "os/signal.h"
#include "record/process.h"
#include "record/recorder.h"
#include "record/rule_cache.h"

namespace mallow::record {

constinit CpuSampler g_cpu_sampler;
MALLOW_THREAD_LOCAL CpuSampler::Thread* CpuSampler::t_thread;

namespace {

constexpr int kSignal = SIGURG;
constexpr uint64_t kSecond = 1'000'000'000;

uintptr_t RegisterOf(const ucontext_t& context, int which) {
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[which]);
}

Registers RegistersOf(const ucontext_t& context) {
  // Not a return address: the instruction itself.
  return {RegisterOf(context, REG_RIP) | kInterrupted,
          RegisterOf(context, REG_RSP),
          RegisterOf(context, REG_RBP),
          RegisterOf(context, REG_RBX),
          RegisterOf(context, REG_R12),
          RegisterOf(context, REG_R13),
          RegisterOf(context, REG_R14),
          RegisterOf(context, REG_R15)};
}

// Whose work was interrupted.
CpuPart PartOf(const ucontext_t& context) {
  if (IsRecorder(t_recorder) && t_recorder->busy) return CpuPart::kRecorder;
  return InOwnText(RegisterOf(context, REG_RIP)) ? CpuPart::kAllocator : CpuPart::kProgram;
}

}  // namespace

void SampleCpu(uint64_t hertz) {
  if (g_recording && hertz != 0) g_cpu_sampler.Start(hertz);
}

void EndCpuSamples() {
  if (g_recording && g_cpu_sampler.on()) g_cpu_sampler.NoteEnd();
}

void CpuSampler::Start(uint64_t hertz) {
  if (!table_.StartIn(&g_process.file())) return;
  interval_ = kSecond / (hertz < kMostHertz ? hertz : kMostHertz);
  g_process.header().cpu_interval = interval_;
  if (os::HandleSignal(kSignal, &OnSignal)) Begin();
}

void CpuSampler::ContinueInChild() {
  if (!on()) return;
  free_lock_.ResetInChild();
  free_ = nullptr;  // those of threads that are not here stay behind
  if (!table_.StartIn(&g_process.file())) {
    interval_ = 0;
    return;
  }
  g_process.header().cpu_interval = interval_;
  Thread* own = t_thread;
  t_thread = nullptr;
  if (own == nullptr) return;
  own->left_over = os::MonotonicNanoseconds() % interval_;
  PutBack(own);
}

void CpuSampler::Begin() {
  if (t_thread != nullptr) return;
  Thread* thread = Take();
  if (thread == nullptr || !thread->timer.Create(kSignal, thread)) {
    if (thread != nullptr) PutBack(thread);
    table_.Add(kRoot, CpuPart::kNoTimer, 0, 1);
    return;
  }
  thread->stack_cache.Forget();
  thread->sampled_at = os::ThreadCpuNanoseconds();
  t_thread = thread;
  os::UnblockSignal(kSignal);
  const uint64_t left_over = thread->left_over % interval_;
  thread->timer.ExpireAfter(interval_ - left_over);
}

void CpuSampler::End() {
  Thread* thread = t_thread;
  if (thread == nullptr) return;
  t_thread = nullptr;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->timer.Delete();
  thread->left_over += os::ThreadCpuNanoseconds() - thread->sampled_at;
  PutBack(thread);
}

CpuSampler::Thread* CpuSampler::Take() {
  {
    SpinlockHolder holder(free_lock_);
    if (Thread* thread = free_; thread != nullptr) {
      free_ = thread->next_free;
      return thread;
    }
  }
  const size_t bytes = (sizeof(Thread) + os::PageSize() - 1) / os::PageSize() * os::PageSize();
  auto* thread = static_cast<Thread*>(os::Map(nullptr, bytes));
  if (thread != nullptr) thread->left_over = os::MonotonicNanoseconds() % interval_;
  return thread;
}

void CpuSampler::PutBack(Thread* thread) {
  SpinlockHolder holder(free_lock_);
  thread->next_free = free_;
  free_ = thread;
}

void CpuSampler::OnSignal(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || t_thread == nullptr || info->si_value.sival_ptr != t_thread) return;
  g_cpu_sampler.Sample(*t_thread, *static_cast<const ucontext_t*>(context));
}

void CpuSampler::Sample(Thread& thread, const ucontext_t& interrupted) {
  const HandlerRanks ranks;
  const uint64_t now = os::ThreadCpuNanoseconds();
  const uint64_t spent = now - thread.sampled_at + thread.left_over;
  thread.left_over = 0;
  if (g_process.HoldsLock()) {
    table_.Add(kRoot, CpuPart::kRecorder, spent, 1);
  } else {
    const NodeId node = Capture(thread, interrupted);
    table_.Add(node, node == kRoot ? CpuPart::kNoRoom : PartOf(interrupted), spent, 1);
  }
  NoteProcessTime();
  thread.sampled_at = os::ThreadCpuNanoseconds();
  table_.Add(kRoot, CpuPart::kSampler, thread.sampled_at - now, 0);
  thread.timer.ExpireAfter(interval_);
}

NodeId CpuSampler::Capture(Thread& thread, const ucontext_t& interrupted) {
  const Registers registers = RegistersOf(interrupted);
  const NodeTable& table = g_process.node_table();
  // Some code uses the stack pointer for something else.
  if (!os::IsReadable(registers.sp)) {
    const auto damaged = static_cast<uint64_t>(Truncation::kDamagedStack);
    return table.child(table.self, kRoot, kTagTruncated << 56 | damaged, 0);
  }
  return thread.stack_cache.Capture(registers, table, &thread.statistics);
}

void CpuSampler::NoteProcessTime() {
  __atomic_store_n(&g_process.header().cpu_process, os::ProcessCpuNanoseconds(), __ATOMIC_RELAXED);
}

void CpuSampler::NoteEnd() {
  NoteProcessTime();
  if (!os::HandlesSignal(kSignal, &OnSignal)) table_.Add(kRoot, CpuPart::kSignalTaken, 0, 1);
}

}  // namespace mallow::record
