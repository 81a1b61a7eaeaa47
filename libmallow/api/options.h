// The options: MALLOW_OPTIONS=name=value:name=value in the environment at the start of the process.
//
// In a value %XX is the byte with that hexadecimal number (%3A for ':', %25 for '%'). An unknown option, or a value
// that cannot be, is said on descriptor 2 and ignored. Not read when the program runs with raised rights.
#pragma once

#include "base/config.h"
#include "heap/release.h"

namespace mallow::api {

struct Path {
  char text[4096] = {};
  bool set() const { return text[0] != '\0'; }
};

struct Text : Path {};

// A number of bytes, which may end with K, M or G for a multiple of 1024.
struct Bytes {
  uint64_t value = 0;
};

struct Milliseconds {
  uint64_t value = 0;
  uint64_t nanoseconds() const { return value * 1000000; }
};

// So many times a second.
struct Hertz {
  uint64_t value = 0;
};

struct Options {
#define MALLOW_OPTION(type, name, value, help) type name = value;
#include "api/options.def"
#undef MALLOW_OPTION
};

// Whether the environment may say anything: if not, every option is what it is by itself.
bool OptionsMayBeSet();

// Fills `options` from the environment. Allocates nothing.
void ReadOptions(Options* options);

// Fills `options` from `settings`, the text after "MALLOW_OPTIONS=".
void ParseOptions(const char* settings, Options* options);

// One line per option: name, then what it does.
extern const char kOptionsHelp[];

}  // namespace mallow::api
