// Where CPU time goes: every thread has a timer on its own CPU time, whose signal is answered by a capture of the interrupted
// stack.
//
// The signal is SIGURG. Who has no use for it never notices: it is ignored by default, also after a program has given
// every signal its default meaning, and a program that handles it must stand one that says nothing (SIGPROF, the timers
// of the program and its handlers are left to the program). Each shot of a timer is armed by the handler of
// the one before: where the program takes SIGURG for itself, it sees one more signal in each thread, and then no more.
//
// A sample stands for the CPU time since the one before it, less what the samples themselves cost, so their sum is
// the CPU time of the thread. What a thread leaves unsampled at its end counts for the one that takes its sampler over.
//
// The kernel looks at the timers at its clock tick, so two samples are some whole ticks apart, at least an interval: a
// *stride*. What the process uses after the last sample no sample stands for, half a stride on average. So the first one
// is due at the first tick or at another one of a stride, at random, and stands for a whole stride: then each moment of
// the process, of one that ends before the next tick too, is sampled as likely as any other, and stands for as much.
//
// A thread gets its timer when it first allocates. One that never does is looked for by the others, now and then when they
// are sampled: the kernel tells how many there are, and new ones have ids a little above those of others. It is not found
// while nobody else runs.
//
// Invariants
//  C1  The handler runs with every signal blocked. It uses the capture of its thread's own sampler, which nobody else
//      does, so it may interrupt a capture of the recorder.
//  C2  It captures only while its thread holds no lock of the recorder; else the sample is the recorder's, without
//      a stack, which needs none of them. Others that hold them never wait for this thread.
//  C3  No handler interrupts what takes the lock of the threads: one that forks would leave it, in the child, to a
//      thread that is not there. In a child that has not recorded yet nothing takes it.
//  C4  A sampler is never unmapped: a signal may come after its timer was deleted, and is not heeded unless its value is
//      the thread's own sampler.
//
// Thread safety: any thread, any time.
#pragma once

#include <signal.h>

#include <cstdint>

#include "base/config.h"
#include "base/spinlock.h"
#include "os/cpu_timer.h"
#include "record/cpu_table.h"
#include "record/stack_cache.h"

namespace mallow::record {

// Takes `hertz` samples in each second of CPU time of each thread (1 to kMostHertz), from now on. After Start.
void SampleCpu(uint64_t hertz);
inline constexpr uint64_t kMostHertz = 10'000;
// The process is about to end in good order: notes what only then is known.
void EndCpuSamples();

class CpuSampler {
 public:
  bool on() const { return interval_ != 0; }

  void Start(uint64_t hertz);
  void NoteEnd();

  // For each thread that is to be recorded, and at its end. Nothing while sampling is off.
  void BeginThread() {
    if (MALLOW_UNLIKELY(on())) Begin();
  }
  void EndThread() {
    if (MALLOW_UNLIKELY(on())) End();
  }
  // In a fork child, before its threads begin. The process has a new image file.
  void ContinueInChild();

 private:
  struct Thread {
    os::CpuTimer timer;
    int id;               // kernel's, of the thread that the timer is for; 0: nobody's
    bool found;           // by another thread: nothing tells when it ends
    uint64_t sampled_at;  // CPU time of the thread
    uint64_t left_over;   // CPU time of earlier owners that no sample stands for yet
    uint64_t due;         // how much CPU time without a sample the next one is to come after
    bool is_first;        // that one
    CaptureStatistics statistics;
    StackCache stack_cache;
    Thread* next_free;
    Thread* next;  // of all
  };
  static MALLOW_THREAD_LOCAL Thread* t_thread;

  static void OnSignal(int signal, siginfo_t* info, void* context);
  // False in a fork child that has not recorded yet: timers and image file are its parent's.
  bool IsOwnProcess() const;
  void Begin();
  bool Arm();  // true: the thread has a timer now
  void End();
  void Sample(Thread& thread, const ucontext_t& interrupted);
  NodeId Capture(Thread& thread, const ucontext_t& interrupted);
  uint64_t StrideTicks() const;
  void BeginStride(Thread& thread) const;
  static void Expire(Thread& thread);
  uint64_t StandsFor(Thread& thread, uint64_t unsampled) const;
  Thread* TakeFor(int id);
  void PutBack(Thread* thread);
  // The next three with the lock held.
  Thread* Of(int id) const;  // null: nobody has that
  Thread* TakeLocked();
  void PutBackLocked(Thread* thread);
  bool IsOurs(const void* thread) const;
  static Thread* Claim(void* value);
  void LookForThreads();
  void LookAmong(int first, int last);
  void NoteProcessTime();

  uint64_t interval_ = 0;  // ns; 0: off
  uint64_t tick_ = 0;      // ns
  int process_ = 0;        // id of the one whose timers these are
  CpuTable table_;
  Thread* free_ = nullptr;
  Thread* all_ = nullptr;    // only ever longer
  uint64_t with_timer_ = 0;  // threads
  int looked_up_to_ = 0;     // ids of threads
  uint64_t next_look_ = 0;   // monotonic ns
  Spinlock threads_lock_{LockRank::kCpuSampler};
};

extern CpuSampler g_cpu_sampler;

}  // namespace mallow::record
