// What to do at one pc to get from a frame to its caller, in eight bytes.
//
// Nearly all rows of nearly all tables are of the first two kinds. A row that fits no kind is interpreted anew
// each time. In all kinds but kInterpreted the return address lies in the word below the CFA.
#pragma once

#include <dlfcn.h>

#include <cstdint>

#include "record/eh_frame.h"
#include "record/stack_memory.h"

namespace mallow::record {

enum class RuleKind : uint8_t {
  kFromSp,     // CFA = sp + cfa; rbp, if saved, at CFA + bp
  kFromBp,     // CFA = rbp + cfa; likewise
  kRealigned,  // CFA in the word at rbp + cfa, rbp in the word at rbp + bp: functions that realign the stack
  kSignal,     // the kernel's signal frame at sp: everything in its ucontext
  kInterpreted,   // by the full interpreter
  kOutermost,     // there is no caller
  kNoUnwindInfo,  // the tables do not cover the pc
};

struct Rule {
  int32_t cfa;
  int16_t bp;
  RuleKind kind;
  uint8_t flags;

  static constexpr uint8_t kSavesBp = 1;
  static constexpr uint8_t kSignalFrame = 2;  // the caller was interrupted: its pc is not a return address
  static constexpr unsigned kFlagBits = 2;    // those above are RuleEntry's
  bool saves_bp() const { return flags & kSavesBp; }
  bool signal_frame() const { return flags & kSignalFrame; }
};
static_assert(sizeof(Rule) == 8);

// Where the kernel leaves the registers of an interrupted frame: offsets from the stack pointer with which the
// signal trampoline runs (struct ucontext of x86-64).
inline constexpr int kSignalSp = 160, kSignalPc = 168, kSignalBp = 120;

struct RuleSource {
  Rule rule;
  bool
      in_object;  // false: no loaded object has this pc, and one may come any time, so the rule must not be kept
  dl_find_object found;     // if in_object
  CodeRange code;           // that the tables give this rule; empty: it is not from tables
  const uintptr_t* tables;  // if it is: a word of the entry
};

// Finds the row at `pc` (already moved into the call instruction where it is a return address) in
// scratch->row. False if there is none. `entry` gets where it is from, `found` the object, `in_object` whether there is one.
bool FindRow(uintptr_t pc, UnwindScratch* scratch, FrameEntry* entry, bool* in_object, dl_find_object* found);

// The rule for a frame at `pc`; `interrupted`: pc is an instruction that a signal interrupted, else a return address.
void MakeRule(uintptr_t pc, bool interrupted, UnwindScratch* scratch, StackMemory* memory,
              RuleSource* source);

}  // namespace mallow::record
