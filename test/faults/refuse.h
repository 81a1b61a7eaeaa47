// One run of a program whose own system calls for memory are counted where libmallow makes them, and refused at the k-th
// and, where asked for, some behind it. "Where libmallow makes them": the instruction lies in the library's code, so that the
// calls of the program, of libc and of ld.so go through.
#ifndef MALLOW_TEST_FAULTS_REFUSE_H
#define MALLOW_TEST_FAULTS_REFUSE_H

#include <stddef.h>

struct Order {
  const char* library;  // absolute path, preloaded
  const char* options;  // MALLOW_OPTIONS
  char* const* command;
  const char* input;   // file for stdin
  const char* output;  // files that take stdout and stderr
  const char* errors;
  int refuse_at;  // 1: the first call; 0: none
  int refusals;   // so many, from that one on
  int seconds;    // patience
};

struct Result {
  int calls;    // of libmallow's, in all processes
  int refused;  // of those
  int hung;
  int status;        // of the first process, as waitpid gives it
  int fault_signal;  // the last signal that says of a process that it is broken (SIGSTOP: that it hung), or 0
  char fault_at[64];  // the module whose code ran when it came
};

struct Result Run(const struct Order* order);

#endif
