// Counts the calls of functions of the program, as units of work, from outside: `mallow record --per FUNCTION`.
//
// The first instructions of the function give way to a jump to a piece of code that counts, does what they did, and
// jumps back behind them. So every call is seen, whoever makes it and by whatever way; nothing is interrupted, and the
// function's own code and frames are as they were for whoever unwinds.
//
// Which instructions give way, and what does the same elsewhere, was found out by the one who asks: nothing is decoded
// here. What is in memory must be what was looked at, or nothing is changed.
//
// A change of code that runs is only safe before other threads do: at the start of the process, once.
#pragma once

namespace mallow::record {

class UnitTable;

// Lines of blank-separated fields, numbers in hexadecimal:
//
//   DEVICE INODE ADDRESS ORIGINAL REPLACEMENT FIXUPS NAME
//
// the file that holds the function, the address in the file where its first instructions begin (behind an endbr64),
// these and what does the same, both as bytes, and where in the latter 32-bit displacements have to grow by how far the
// code has moved, or, with 0x80 added, the address behind the original has to stand ("-" for none). NAME is the unit, to the end of the line. A line that is none of these is ignored.
void CountCallsOf(const char* functions, UnitTable* units);

// For a fork child, before it leaves its parent's file, and for a later session: calls count in the new file from now on.
void CountCallsIn(UnitTable* units);

}  // namespace mallow::record
