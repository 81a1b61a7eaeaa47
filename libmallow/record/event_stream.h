// The events of one thread, one after the other, in the blocks that it took of the log.
//
// An event is two bytes and what cannot be predicted from the events before it in the block: which place calls after
// which, what size it asks for, how far from its last block the next one lies. A reader makes the same predictions
// (internal/eventlog), from the same tables: each block can be read without the others.
//
// Invariants
//  L1  `used` of the block is written last, so that a reader sees whole events only, also after a kill.
//  L2  Stamps of a stream rise.
//
// Thread safety: the owner's alone, within the recorder. About 100 instructions an event.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/log_format.h"
#include "record/stack_table.h"

namespace mallow::record {

class EventStream {
 public:
  // In zeroed memory. `holder` is where the owner keeps its pointer to this: null when the log has ended.
  void Begin(EventStream** holder, uint32_t number);
  // The owner's thread has changed.
  void SetThread(uint32_t tid);

  // Of each: `events` is the shard's count when the event has been counted, `clock` that of the block's birth when it
  // was born in this thread, else kNoClock.
  //
  // `argument`: the alignment, the count of calloc, the text of strdup; 0 for none.
  void Birth(StackId stack, size_t bytes, const void* block, uint64_t argument, uint64_t events);
  void Death(NodeId caller, const void* block, uint64_t clock, uint64_t events);
  void Move(StackId stack, const void* old, uint64_t clock, size_t bytes, const void* block, uint64_t events);
  // `bytes` may be kUnknownBytes.
  void Failure(StackId stack, size_t bytes, uint64_t events);
  void NullRelease(NodeId caller, uint64_t events);

  static constexpr uint64_t kNoClock = ~uint64_t{0};

 private:
  // What was last seen of a stack, or of a frame that released.
  struct Place {
    uint64_t address;
    uint64_t size;
    uint32_t name;  // stack or node, plus 1; 0 empty
    uint32_t next;  // the place of the thread's next event
  };
  class Record;

  // Makes room for an event of `weight` counted events. False: the log has ended.
  bool Prepare(uint64_t stamp, uint64_t events, uint32_t weight);
  bool NewBlock(uint64_t stamp, uint64_t first_event);
  void Rebase(uint64_t stamp);
  void AddThread();
  uint64_t AgeOf(uint64_t clock, uint64_t events) const;
  Record Start(LogKind kind, uint64_t stamp, uint32_t place);
  void AddOld(Record* record, const void* block, uint64_t clock, uint64_t events, const Place& place) const;
  Place& Find(Place (&places)[kLogPlaces], uint32_t name);

  EventStream** holder_;
  uint32_t number_;
  uint32_t tid_;
  LogBlock* block_;
  uint64_t stamp_;       // of the last event
  uint64_t base_stamp_;  // of the last record of the clock
  uint64_t base_ns_;
  uint64_t address_;      // of the last event
  uint64_t first_event_;  // the shard's count before the first event of the block
  Place* last_;           // of the last event
  Place births_[kLogPlaces];
  Place deaths_[kLogPlaces];
};

}  // namespace mallow::record
