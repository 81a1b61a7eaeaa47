// A whole exact stack, cheaply: the rule cache and the incremental stack cache.
//
// One StackCache per thread. Capture() walks from the frame of malloc's caller outwards by the unwind
// tables (.eh_frame, through _dl_find_object), and reuses what the last capture of this thread found as far
// as every word that the last walk read is unchanged ("verified read set"). No depth limit, no allocation,
// no lock on the common path, never dl_iterate_phdr or dlsym.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mallow::record {

// Where a capture starts: the state of the caller at its call instruction's return address.
// The other callee-saved registers are those at the time of the capture's entry; they matter
// only to rare rules (CFA from another register, DWARF expressions).
struct Registers {
  uintptr_t pc;   // return address
  uintptr_t sp;   // caller's stack pointer after the return
  uintptr_t bp;   // rbp
  uintptr_t bx, r12, r13, r14, r15;
};

using NodeId = uint32_t;
inline constexpr NodeId kRoot = 0;

// Frame tags as in format/recording.md.
inline constexpr uint64_t kTagReturnAddress = 0, kTagSignalFrame = 1, kTagFunction = 2, kTagTruncated = 3;
enum class Truncation : uint8_t { kNoUnwindInfo = 1, kDamagedStack = 2, kBusy = 3, kNoRoom = 4 };

// Gives ids to paths. Implemented by stack_table.h; a template parameter or an abstract
// reference would cost nothing measurable on the miss path, so this is a plain struct of two functions.
struct NodeTable {
  void* self;
  // Node of (parent, frame); frame = tag << 56 | value, module = module id + 1 or 0. Thread-safe. kRoot when full.
  NodeId (*child)(void* self, NodeId parent, uint64_t frame, uint32_t module);
  // Id + 1 of the module that `link_map_start..end` describes (see modules.h); called when a rule is made.
  uint32_t (*module)(void* self, const void* dl_find_object_result);
};

}  // namespace mallow::record
