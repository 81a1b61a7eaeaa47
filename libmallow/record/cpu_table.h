// CPU time per stack, in the recording (section cpu samples of format/recording.md).
//
// Thread safety: Add takes a lock. It is called by handlers that have every signal blocked, and by threads whose handler
// does not heed its signals, so it is never held by what a handler interrupts.
// Takes the lock of the file only for a place that is new. The places of the recorder and of the sampler without a stack
// never are, and need no lock at all. Costs a look-up, a new place a few stores; now and then the index doubles.
#pragma once

#include <cstdint>

#include "base/spinlock.h"
#include "record/image_format.h"
#include "record/unwind.h"

namespace mallow::record {

class MappedFile;

class CpuTable {
 public:
  // Also for a fork child, whose table is empty. False: no room, then Add does nothing.
  bool StartIn(MappedFile* file);

  // `node` is kRoot where no stack could be had.
  void Add(NodeId node, CpuPart part, uint64_t nanoseconds, uint64_t samples);

 private:
  struct Slot {
    uint64_t key_plus_one;  // 0: empty
    uint64_t item;
  };
  static uint64_t Key(NodeId node, CpuPart part) { return uint64_t{node} << 8 | static_cast<uint64_t>(part); }
  Slot& Find(uint64_t key) const;
  void AddTo(uint64_t item, uint64_t nanoseconds, uint64_t samples);
  // The next two: with the lock held.
  CpuSample* NewSample(NodeId node, CpuPart part);
  bool MakeRoom();

  MappedFile* file_ = nullptr;
  Slot* slots_ = nullptr;
  uint64_t capacity_ = 0;
  uint64_t count_ = 0;
  Spinlock lock_{LockRank::kStackTable};
};

}  // namespace mallow::record
