#include "record/cpu_sampler.h"

#include <ucontext.h>

#include "base/bits.h"
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

// How threads that never allocate are looked for. An id costs a system call, about 100 ns.
constexpr uint64_t kPauseBetweenLooks = kSecond / 20;
constexpr int kIdsAhead = 256, kMostIds = 2048, kFarthestId = 16384;

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
  if (IsRecorder(t_recorder) && t_recorder->state.busy) return CpuPart::kRecorder;
  return InOwnText(RegisterOf(context, REG_RIP)) ? CpuPart::kAllocator : CpuPart::kProgram;
}

}  // namespace

void SampleCpu(uint64_t hertz) {
  if (g_recording && hertz != 0) g_cpu_sampler.Start(hertz);
}

void EndCpuSamples() {
  if (g_cpu_sampler.on()) g_cpu_sampler.NoteEnd();
}

void CpuSampler::Start(uint64_t hertz) {
  if (!table_.StartIn(&g_process.file())) return;
  process_ = os::ProcessId();
  tick_ = os::TickNanoseconds();
  interval_ = kSecond / (hertz < kMostHertz ? hertz : kMostHertz);
  g_process.header().cpu_interval = interval_;
  if (os::HandleSignal(kSignal, &OnSignal)) Begin();
}

void CpuSampler::ContinueInChild() {
  if (!on()) return;
  process_ = os::ProcessId();
  threads_lock_.ResetInChild();
  // The timers are not here. What other threads had stays behind.
  for (Thread* thread = all_; thread != nullptr; thread = thread->next) thread->id = 0;
  free_ = nullptr;
  with_timer_ = 0;
  looked_up_to_ = 0;
  if (!table_.StartIn(&g_process.file())) {
    interval_ = 0;
    return;
  }
  g_process.header().cpu_interval = interval_;
  Thread* own = t_thread;
  t_thread = nullptr;
  if (own == nullptr) return;
  BeginStride(*own);
  PutBack(own);
}

bool CpuSampler::IsOwnProcess() const { return os::ProcessId() == process_; }

void CpuSampler::Begin() {
  if (Arm()) os::UnblockSignal(kSignal);
}

bool CpuSampler::Arm() {
  const os::SignalsBlocked quiet;
  if (t_thread != nullptr || !IsOwnProcess()) return false;
  const int id = os::ThreadId();
  Thread* thread = TakeFor(id);
  if (thread != nullptr && thread->found) {
    thread->found = false;
    t_thread = thread;
    return true;
  }
  if (thread == nullptr || !thread->timer.Create(id, kSignal, thread)) {
    if (thread != nullptr) {
      thread->id = 0;
      PutBack(thread);
    }
    table_.Add(kRoot, CpuPart::kNoTimer, 0, 1);
    return false;
  }
  __atomic_fetch_add(&with_timer_, 1, __ATOMIC_RELAXED);
  thread->stack_cache.Forget();
  thread->sampled_at = os::ThreadCpuNanoseconds();
  t_thread = thread;
  Expire(*thread);
  return true;
}

void CpuSampler::End() {
  const os::SignalsBlocked quiet;
  Thread* thread = t_thread;
  if (thread == nullptr || !IsOwnProcess()) return;
  t_thread = nullptr;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->timer.Delete();
  thread->id = 0;
  thread->left_over += os::ThreadCpuNanoseconds() - thread->sampled_at;
  __atomic_fetch_sub(&with_timer_, 1, __ATOMIC_RELAXED);
  PutBack(thread);
}

uint64_t CpuSampler::StrideTicks() const { return (interval_ + tick_ - 1) / tick_; }

void CpuSampler::BeginStride(Thread& thread) const {
  thread.left_over = 0;
  thread.due = os::MonotonicNanoseconds() % StrideTicks() * tick_;
  thread.is_first = true;
}

// How much time the sample stands for that is taken now. What the first one comes later than the tick at which it was due
// is time like any other.
uint64_t CpuSampler::StandsFor(Thread& thread, uint64_t unsampled) const {
  if (!thread.is_first) return unsampled;
  const uint64_t last = thread.due + tick_;
  thread.is_first = false;
  thread.due = interval_;
  return StrideTicks() * tick_ + (unsampled > last ? unsampled - last : 0);
}

// A timer is off that is set to expire after nothing.
void CpuSampler::Expire(Thread& thread) {
  thread.timer.ExpireAfter(thread.left_over < thread.due ? thread.due - thread.left_over : 1);
}

// The one with which another thread has found it, timer and all; else one that is its own from here on, so that nobody looks
// for it.
CpuSampler::Thread* CpuSampler::TakeFor(int id) {
  SpinlockHolder holder(threads_lock_);
  if (Thread* const found = Of(id); found != nullptr) return found;
  Thread* const thread = TakeLocked();
  if (thread == nullptr) return nullptr;
  thread->found = false;
  thread->id = id;
  return thread;
}

CpuSampler::Thread* CpuSampler::TakeLocked() {
  if (Thread* thread = free_; thread != nullptr) {
    free_ = thread->next_free;
    return thread;
  }
  const size_t bytes = (sizeof(Thread) + os::PageSize() - 1) / os::PageSize() * os::PageSize();
  auto* thread = static_cast<Thread*>(os::Map(nullptr, bytes));
  if (thread == nullptr) return nullptr;
  BeginStride(*thread);
  thread->next = all_;
  __atomic_store_n(&all_, thread, __ATOMIC_RELEASE);
  return thread;
}

void CpuSampler::PutBack(Thread* thread) {
  SpinlockHolder holder(threads_lock_);
  PutBackLocked(thread);
}

void CpuSampler::PutBackLocked(Thread* thread) {
  thread->next_free = free_;
  free_ = thread;
}

// Without the lock: the list only grows at its head.
bool CpuSampler::IsOurs(const void* thread) const {
  const Thread* any = __atomic_load_n(&all_, __ATOMIC_ACQUIRE);
  while (any != nullptr && any != thread) any = any->next;
  return any != nullptr;
}

// In a thread that another one found: its first signal.
CpuSampler::Thread* CpuSampler::Claim(void* value) {
  if (!g_cpu_sampler.IsOurs(value)) return nullptr;
  auto* thread = static_cast<Thread*>(value);
  if (!thread->found || thread->id != os::ThreadId()) return nullptr;
  return t_thread = thread;
}

void CpuSampler::OnSignal(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER) return;
  void* value = info->si_value.sival_ptr;
  Thread* thread = t_thread != nullptr ? t_thread : Claim(value);
  if (thread == nullptr || thread != value) return;
  g_cpu_sampler.Sample(*thread, *static_cast<const ucontext_t*>(context));
}

void CpuSampler::Sample(Thread& thread, const ucontext_t& interrupted) {
  const HandlerRanks ranks;
  const uint64_t now = os::ThreadCpuNanoseconds();
  const uint64_t spent = StandsFor(thread, now - thread.sampled_at + thread.left_over);
  thread.left_over = 0;
  if (g_process.HoldsLock()) {
    table_.Add(kRoot, CpuPart::kRecorder, spent, 1);
  } else {
    const NodeId node = Capture(thread, interrupted);
    table_.Add(node, node == kRoot ? CpuPart::kNoRoom : PartOf(interrupted), spent, 1);
  }
  NoteProcessTime();
  LookForThreads();
  thread.sampled_at = os::ThreadCpuNanoseconds();
  table_.Add(kRoot, CpuPart::kSampler, thread.sampled_at - now, 0);
  Expire(thread);
}

NodeId CpuSampler::Capture(Thread& thread, const ucontext_t& interrupted) {
  const Registers registers = RegistersOf(interrupted);
  const NodeTable& table = g_process.node_table();
  // Some code uses the stack pointer for something else.
  if (!os::IsReadable(registers.sp)) return TruncatedPath(Truncation::kDamagedStack, table);
  return thread.stack_cache.Capture(registers, table, &thread.statistics);
}

// Within a sample, so with every signal blocked.
void CpuSampler::LookForThreads() {
  const uint64_t now = os::CoarseNanoseconds();
  if (now < __atomic_load_n(&next_look_, __ATOMIC_RELAXED)) return;
  // What this sample interrupted may hold the lock.
  if (!threads_lock_.TryLock()) return;
  __atomic_store_n(&next_look_, now + kPauseBetweenLooks, __ATOMIC_RELAXED);
  for (Thread* thread = all_; thread != nullptr; thread = thread->next) {
    if (thread->id == 0 || !thread->found || os::HasThread(thread->id)) continue;
    thread->timer.Delete();
    thread->id = 0;
    __atomic_fetch_sub(&with_timer_, 1, __ATOMIC_RELAXED);
    PutBackLocked(thread);
  }
  if (os::CountThreads() > __atomic_load_n(&with_timer_, __ATOMIC_RELAXED)) {
    int highest = os::ProcessId();
    for (const Thread* thread = all_; thread != nullptr; thread = thread->next) {
      if (thread->id > highest) highest = thread->id;
    }
    LookAmong(os::ProcessId(), highest + kIdsAhead);
    // Further away each time, and from the beginning once more: where others start thousands of processes in a second, the next
    // id of this one may be that far.
    if (looked_up_to_ < highest || looked_up_to_ > highest + kFarthestId) looked_up_to_ = highest;
    const int ids = Min(Max(2 * (looked_up_to_ - highest), kIdsAhead), kMostIds);
    LookAmong(looked_up_to_, looked_up_to_ + ids);
    looked_up_to_ += ids;
  }
  threads_lock_.Unlock();
}

void CpuSampler::LookAmong(int first, int last) {
  if (last - first > kMostIds) first = last - kMostIds;
  for (int id = first + 1; id <= last; ++id) {
    if (!os::HasThread(id) || Of(id) != nullptr) continue;
    Thread* thread = TakeLocked();
    if (thread == nullptr) return;
    thread->found = true;
    thread->id = id;
    thread->stack_cache.Forget();
    // What it did before is not known.
    thread->sampled_at = os::ThreadCpuNanoseconds(id);
    if (!thread->timer.Create(id, kSignal, thread)) {
      thread->id = 0;
      PutBackLocked(thread);
      continue;
    }
    __atomic_fetch_add(&with_timer_, 1, __ATOMIC_RELAXED);
    Expire(*thread);
  }
}

CpuSampler::Thread* CpuSampler::Of(int id) const {
  Thread* thread = all_;
  while (thread != nullptr && thread->id != id) thread = thread->next;
  return thread;
}

void CpuSampler::NoteProcessTime() {
  __atomic_store_n(&g_process.header().cpu_process, os::ProcessCpuNanoseconds(), __ATOMIC_RELAXED);
}

void CpuSampler::NoteEnd() {
  if (!IsOwnProcess()) return;
  // Its signals are not heeded from here on: one would find the table locked.
  t_thread = nullptr;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  NoteProcessTime();
  if (!os::HandlesSignal(kSignal, &OnSignal)) table_.Add(kRoot, CpuPart::kSignalTaken, 0, 1);
}

}  // namespace mallow::record
