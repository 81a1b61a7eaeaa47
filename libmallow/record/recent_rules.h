// The rules that were made last, each with the code that it holds for. A row of the unwind tables covers most calls of a
// function, and a program that starts comes to one call after the other.
//
// Thread-compatible; all zero is empty. A search looks at all entries, some 100 instructions; without one a rule takes a
// search of the tables and a run of a function's whole program, thousands.
#pragma once

#include <cstdint>

#include "os/readable.h"
#include "record/rule.h"

namespace mallow::record {

struct RecentRule {
  CodeRange code;
  // A word of the entry that the rule was made from, and what it said: that entry's code and the length of it, mostly.
  const uintptr_t* tables;
  uintptr_t said;
  uint32_t module;  // id + 1
  Rule rule;
};

class RecentRules {
 public:
  static constexpr unsigned kCount = 32;

  // That of the code at `address`; null: none is known, or its tables are not there any more.
  const RecentRule* Find(uintptr_t address, os::ReadablePages* pages) const {
    for (const RecentRule& recent : rules_) {
      if (!recent.code.Has(address)) continue;
      const bool there =
          pages->HasWord(reinterpret_cast<uintptr_t>(recent.tables)) && *recent.tables == recent.said;
      return there ? &recent : nullptr;
    }
    return nullptr;
  }

  // In place of the oldest.
  void Add(const RecentRule& rule) {
    rules_[next_] = rule;
    next_ = (next_ + 1) % kCount;
  }

 private:
  RecentRule rules_[kCount] = {};
  unsigned next_ = 0;
};

}  // namespace mallow::record
