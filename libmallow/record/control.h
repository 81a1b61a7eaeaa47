// Starting and stopping the recorder of a process that runs: from outside by a *control file*, which the process maps
// and the command line writes to (format/control.md), and from inside by mallow.h.
//
// Every slow path looks at one word, *attention*; no thread, signal or system call of ours waits for orders. So that
// threads that are served by their hit paths for ever come by, the page which tells these the class of a request is
// mapped from the control file too (heap/hit_switch.h): whoever gives an order writes zeros into its table, and the next
// malloc of up to 256 KiB in any thread is slow. That thread carries the order out, for all threads, and puts the
// table right again.
//
// fork: a child has a control file of its own, made at its first slow call. Thread safety: any thread, at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/config.h"

namespace mallow::record {

// Before the library is started the word says so, too: slow paths look at nothing else.
extern MALLOW_INTERNAL std::atomic<const std::atomic<uint32_t>*> g_attention;
// The word of a process that nobody can give orders.
extern const std::atomic<uint32_t> no_orders;

MALLOW_ALWAYS_INLINE bool AttentionWanted() {
  return MALLOW_UNLIKELY(g_attention.load(std::memory_order_acquire)->load(std::memory_order_relaxed) != 0);
}

// While the library is started: makes the control file of this process in `folder`, which must exist. False: it could
// not be made.
bool OpenControl(const char* folder);
// When it is started: from here on attention means an order. The second is for where no control file was asked for.
void AwaitOrders();
inline void ExpectNoOrders() { g_attention.store(&no_orders, std::memory_order_release); }
// For a process that is recorded from its start, when what is recorded cannot end before the process: from then on
// StopRecording says kBadOrder.
void RecordToTheEnd();
// What a slow path does when it sees attention wanted. Returns at once when another thread is at it.
void Attend();
// When the process exits: takes the control file away.
void CloseControl();

enum class ControlResult : uint32_t {
  kDone = 0,
  kCannotRecord = 1,  // the image file could not be made in the folder
  kRecording = 2,     // is already being recorded
  kNotRecording = 3,
  kBadOrder = 4,
  kNoRecorder = 5,  // the minimal library
};

ControlResult StartRecording(const char* folder);
ControlResult StopRecording();
// Writes what the process has recorded so far into a new image file in `folder`, which must exist.
ControlResult Snapshot(const char* folder);

}  // namespace mallow::record
