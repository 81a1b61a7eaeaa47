// Evaluates DWARF expressions of unwind tables.
#pragma once

#include "record/eh_frame.h"
#include "record/stack_memory.h"

namespace mallow::record {

// The registers of one frame, as far as they are known.
struct RegisterFile {
  uintptr_t value[kRegisterCount];
  uint32_t known;  // bit set by register number

  bool Knows(uint64_t number) const { return number < kRegisterCount && (known >> number & 1); }
  void Set(unsigned number, uintptr_t v) {
    value[number] = v;
    known |= 1u << number;
  }
};

// A word of the stack and what it held.
struct StackWord {
  uintptr_t address, value;
};

// Words that an interpreter read, in order. A frame that reads more than fit is not remembered.
struct WordLog {
  static constexpr unsigned kCapacity = 32;
  StackWord words[kCapacity];
  unsigned count;
  bool overflow;

  void Add(uintptr_t address, uintptr_t value) {
    if (count == kCapacity) {
      overflow = true;
    } else {
      words[count++] = {address, value};
    }
  }
};

enum class Interpretation : uint8_t {
  kDone,
  kOutermost,        // the tables say that there is no caller
  kUnknownRegister,  // needs a register whose value is not known here
  kUnreadable,       // needs a word that is not there
  kMalformed,        // no sense
};

// Evaluates the expression at `expression` (its length first). `initial`, if not null, is on the stack at the start.
Interpretation Evaluate(const uint8_t* expression, const uint8_t* end, const RegisterFile& registers,
                        const uintptr_t* initial, StackMemory* memory, WordLog* log, uintptr_t* result);

// From a frame to its caller: finds the CFA and recovers the registers in `wanted` (a mask by register number); all
// others are unknown in `caller`. caller->value[kRsp] is the CFA unless the row says otherwise.
Interpretation RecoverCaller(const UnwindRow& row, const RegisterFile& registers, uint32_t wanted,
                             StackMemory* memory, WordLog* log, RegisterFile* caller);

}  // namespace mallow::record
