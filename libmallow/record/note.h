// The mark of libmallow in what it is linked into: an ELF note of the name "mallow" without content. It is loaded with
// the program and not stripped, so that the command line can read it from a file, and another copy of libmallow from
// memory. The types, which internal/doctor knows too:
//
//   1  a libmallow with a recorder
//   2  the minimal library
#pragma once

#define MALLOW_NOTE_TYPE_RECORDER "1"
#define MALLOW_NOTE_TYPE_MINIMAL "2"

// Sizes of name and content, type, name.
#define MALLOW_LEAVE_NOTE(type)                                                   \
  asm(".pushsection .note.mallow, \"a\", @note\n\t.balign 4\n\t.long 7, 0, " type \
      "\n\t.asciz \"mallow\"\n\t"                                                 \
      ".balign 4\n\t.popsection")
