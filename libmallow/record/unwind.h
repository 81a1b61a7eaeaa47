// A whole exact stack: the words that the unwinder and its callers share.
//
// The walk goes from the frame of malloc's caller outwards by the unwind tables (.eh_frame, found through
// _dl_find_object). No depth limit, no allocation from the heap, no lock, never dl_iterate_phdr or dlsym.
//
//   stack_cache      one per thread: the last stack, what of it still holds
//     leaf_entries   where captures began: what leads from there to a frame of the last stack
//     walk           of the rest
//     rule_cache     pc -> what to do at that pc, in 16 bytes
//       rule         made from a row of the tables
//         eh_frame   the tables: entry of a pc, its program, the row at the pc
//     dwarf_expression   rows that no rule can express, interpreted each time
//     stack_memory   reads words of a stack that may be damaged
#pragma once

#include <cstddef>
#include <cstdint>

namespace mallow::record {

// Where a capture starts: the state of the caller at its call instruction's return address.
// The other callee-saved registers are those at the time of the capture's entry; they matter
// only to rare rules (CFA from another register, DWARF expressions).
struct Registers {
  uintptr_t pc;  // return address
  uintptr_t sp;  // caller's stack pointer after the return
  uintptr_t bp;  // rbp
  uintptr_t bx, r12, r13, r14, r15;
};

using NodeId = uint32_t;
inline constexpr NodeId kRoot = 0;

// Frame tags as in format/recording.md.
inline constexpr uint64_t kTagReturnAddress = 0, kTagSignalFrame = 1, kTagFunction = 2, kTagTruncated = 3;
enum class Truncation : uint8_t { kNoUnwindInfo = 1, kDamagedStack = 2, kBusy = 3, kNoRoom = 4 };

// What the table calls a frame. 0: it has no room for it.
using FrameId = uint32_t;
inline constexpr unsigned kFrameIdBits = 22;

// One frame of a path, and what the table says of it.
struct PathStep {
  FrameId frame;
  NodeId node;
};

// Gives ids to paths. Implemented by stack_table.h; a template parameter or an abstract
// reference would cost nothing measurable on the miss path, so this is a plain struct of functions.
struct NodeTable {
  void* self;
  // Of tag << 56 | value, and module id + 1 or 0. Thread-safe.
  FrameId (*frame)(void* self, uint64_t frame, uint32_t module);
  // The nodes of `count` frames, none of them 0, outermost first, each the child of the one before, the first of `parent`.
  // Returns the last; kRoot when full, then some of them may have none. Thread-safe. Not for many at a time: others may
  // wait for it.
  NodeId (*path)(void* self, NodeId parent, PathStep* steps, size_t count);
  // The frames of a path from below one of its nodes to the last, outermost first: how many; 0 if more than `most`.
  // Thread-safe.
  size_t (*frames)(void* self, NodeId below, NodeId last, PathStep* steps, size_t most);
  // Id + 1, below 65536, of the module that a `struct dl_find_object` describes; called when a rule is made. 0: none.
  uint32_t (*module)(void* self, const void* dl_find_object_result);
};

// The path of a stack of which nothing is known, for that reason.
NodeId TruncatedPath(Truncation why, const NodeTable& table);

// A short path is such a one and below it at most so many frames, the innermost of a stack for which there is no room: enough to
// see who calls a program's own function around malloc.
inline constexpr size_t kFramesOfShortPath = 4;

// What captures cost and how they ended; sums since the start.
struct CaptureStatistics {
  uint64_t captures;
  uint64_t reused;              // captures that walked no frame: all was found unchanged
  uint64_t frames_walked;       // by rule
  uint64_t frames_verified;     // of the last stack, found unchanged where no leaf entry knew the whole
  uint64_t frames_interpreted;  // by the full interpreter
  uint64_t truncated;           // captures that do not reach the outermost frame
};

// Frames whose pc lies in [start, end) are left out at the inner end of every path. Before the first capture.
void SetOwnText(uintptr_t start, uintptr_t end);
bool InOwnText(uintptr_t pc);

// Objects may have been unloaded: every thread forgets its rules and its last stack at its next capture.
// Any thread, any time; one atomic addition.
void InvalidateModules();

// The dynamic linker has freed `block`: does what InvalidateModules does if the block is the link map of an object
// that some rule was made from, which is how dlclose shows. Call it for each free whose caller is ld.so, before the block
// is free; cheap, so that the loader's many other frees do not throw the rules away.
void LoaderFreed(const void* block);

}  // namespace mallow::record
