// The unwind tables of a loaded object (.eh_frame): which entry covers a pc, and what its program says there.
//
// Reads only memory of the object itself, with bounds; a table that makes no sense, or that the program has unmapped, gives
// "not found", never a fault. Thread-safe (reads only). Cost: a binary search of .eh_frame_hdr, or a linear pass over
// .eh_frame where the object has no search table; then one run of the entry's program; two system calls for the tables of
// each object in a capture, or where the end of their segment is not known one for each page that it begins to read.
#pragma once

#include <cstdint>

#include "os/readable.h"
#include "record/dwarf_reader.h"
#include "record/tables_end.h"

namespace mallow::record {

// A loaded object as the dynamic linker describes it.
struct LoadedObject {
  uintptr_t start, end;         // of its mapping
  const uint8_t* eh_frame_hdr;  // null: it has no unwind tables
  uintptr_t tables_end;         // of the segment that holds them; 0: not known
  os::ReadablePages* pages;
};

// One frame description entry (FDE) with what its common entry (CIE) says.
struct FrameEntry {
  uintptr_t start, end;  // of the code that it covers
  uint64_t code_alignment;
  int64_t data_alignment;
  uint64_t return_address_register;
  uint8_t pointer_encoding;
  bool signal_frame;
  const uint8_t* initial_program;
  const uint8_t* initial_program_end;
  const uint8_t* program;
  const uint8_t* program_end;

  bool operator==(const FrameEntry&) const = default;
};

// DWARF's numbers of the registers of x86-64.
enum DwarfRegister : unsigned {
  kRbx = 3,
  kRbp = 6,
  kRsp = 7,
  kR12 = 12,
  kR13 = 13,
  kR14 = 14,
  kR15 = 15,
  kReturnAddress = 16,
  kRegisterCount = 17,
};

// How the caller's value of a register is found. kUnstated is what no instruction mentions: the caller's value is
// still there, but for rsp, which is then the CFA.
enum class Recovery : uint8_t {
  kUnstated,
  kSameValue,
  kUndefined,
  kAtOffset,      // in memory at CFA + offset
  kIsOffset,      // CFA + offset itself
  kInRegister,    // in another register
  kAtExpression,  // in memory at the value of an expression
  kIsExpression,  // the value of an expression
};

struct RegisterRule {
  Recovery how;
  union {
    int64_t offset;
    uint64_t other;             // register number
    const uint8_t* expression;  // starts with its length (ULEB128)
  };
};

// What the tables say at one pc. The CFA is register + offset, or an expression if that is not null.
struct UnwindRow {
  uint64_t cfa_register;
  int64_t cfa_offset;
  const uint8_t* cfa_expression;
  const uint8_t* end;  // no expression reaches beyond
  RegisterRule registers[kRegisterCount];
};

// Addresses [start, end).
struct CodeRange {
  uintptr_t start, end;

  bool Has(uintptr_t address) const { return address - start < end - start; }
};

// Room for running a program; too large for the stack of a signal handler. All zero at first. What it keeps is of the tables
// as they are: `progress` and `tables_ends` have to be emptied when others may lie in their place.
struct UnwindScratch {
  static constexpr unsigned kMaxRemembered = 16;
  UnwindRow row, initial;
  UnwindRow remembered[kMaxRemembered];
  CodeRange code;  // what `row` holds for
  // How far the program has run.
  struct Progress {
    FrameEntry entry;  // all zero: none
    const uint8_t* at;
    uintptr_t location;
    unsigned remembered;
  } progress;
  TablesEnds tables_ends;
  os::ReadablePages pages;  // what this capture has learned of memory that is not the stack
};

// Whether its unwind tables are still there.
bool HasUnwindTables(const LoadedObject& object);

// Finds the entry that covers `pc`. False if there is none.
bool FindFrameEntry(const LoadedObject& object, uintptr_t pc, FrameEntry* entry);

// Runs the programs of `entry`, which covers `pc`, up to there and leaves the row in scratch->row. False on an instruction that is
// not known or a program that breaks its own bounds.
bool FindUnwindRow(const LoadedObject& object, const FrameEntry& entry, uintptr_t pc, UnwindScratch* scratch);

}  // namespace mallow::record
