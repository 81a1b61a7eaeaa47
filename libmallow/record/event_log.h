// The ordered log of a process: every event in order, beside the counters. Only with the option `log`.
//
// The file is written in place in blocks, each of which belongs to one thread, so that nothing is lost in whatever way
// the process ends. It is mapped as the image file is (see mapped_file.h, M1 and M2): blocks are populated before they
// are touched, and no descriptor stays open.
//
// The log is a whole one up to LogHeader::end_stamp: when a block cannot be had, because of the limit or the disk, the
// log ends for the process; the counters go on.
//
// Thread safety: TakeBlock, End and Stamp from any thread, without locks; the others while no other thread records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/config.h"
#include "os/cycle_counter.h"
#include "record/event_stream.h"
#include "record/log_format.h"

namespace mallow::record {

struct ThreadRecorder;

class EventLog {
 public:
  // Before the recorder starts. 0: no log.
  void SetLimit(uint64_t bytes) { limit_ = bytes; }
  bool wanted() const { return limit_ != 0; }

  // Makes the log of the image file `image` in `folder`. False: there is none.
  bool Create(const char* folder, const char* image) { return Create(folder, image, BestClock()); }
  bool Create(const char* folder, const char* image, LogClock clock);
  static LogClock BestClock();
  // In a fork child: gives the parent's mapping up and makes a log of its own.
  bool CreateInChild(const char* folder, const char* image);
  // In a fork child that is still within a record of the parent's: what it writes is for nobody.
  void Detach();

  // Gives a recorder that has just been given a shard its stream, if there is a log.
  void Follow(ThreadRecorder* recorder);

  // Where address space is limited to less than a log of this size would be made under: the log ends, and what it has not
  // used goes. False: nothing. One caller at a time, and none within CreateInChild.
  bool GiveBackRoom();

  // Where the event that asks stands in the order of all events of the process.
  MALLOW_ALWAYS_INLINE uint64_t Stamp() {
    if (MALLOW_LIKELY(clock_ == LogClock::kCycleCounter)) return os::ReadCycleCounter() >> kCyclesShift;
    return __atomic_add_fetch(&header_->counter, 1, __ATOMIC_SEQ_CST);
  }
  LogClock clock() const { return clock_; }

  // A new block, zeroed, and its number; null when there is none, and the log ends before `stamp`.
  LogBlock* TakeBlock(uint64_t stamp, uint32_t* number);
  void End(LogEnd why, uint64_t stamp);

 private:
  bool CreateFile(const char* folder, const char* image);

  LogHeader* header_ = nullptr;  // null: no log
  uint64_t bytes_ = 0;           // of the mapping
  uint64_t limit_ = 0;
  LogClock clock_ = LogClock::kSharedCounter;
};

extern EventLog g_event_log;

}  // namespace mallow::record
