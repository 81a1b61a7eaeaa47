// Deliberate faults, for proving that the tests notice them: an extra build (test/unwind, MALLOW_MUTANTS=1) has them all in
// it and one of them at a time. Nothing else has any.
#pragma once

#include "base/config.h"

namespace mallow::record {

enum class Mutant {
  kNone = 0,
  kOuterWordsNotVerified = 1,       // a match of pc and sp is believed
  kSavedBpNotVerified = 2,          // words that hold a saved rbp are not compared
  kJoinBpNotCompared = 3,           // rbp is not compared at the frame that joins
  kJoinOnSpAlone = 4,               // pc is not compared at the frame that joins
  kGenerationIgnored = 5,           // unloaded objects keep their rules and stacks
  kSignalPcDecremented = 6,         // an interrupted pc is taken for a return address
  kLeafBpNotCompared = 7,           // rbp is not compared where a leaf entry starts
  kLeafJoinBpIgnored = 8,           // rbp is not compared at the frame where a leaf entry joins
  kLeafWordsNotVerified = 9,        // a leaf entry is believed for its pc and sp
  kLeafJoinNotCompared = 10,        // a leaf entry joins whatever frame lies where its own was
  kLeavesOutliveObjects = 11,       // unloaded objects keep their leaf entries
  kRulesOutliveObjects = 12,        // unloaded objects keep their rules
  kLastStackOutlivesObjects = 13,   // unloaded objects keep the last stack
  kOutsideRemembered = 14,          // that no object was at a pc is taken to hold on
  kStackBoundsIgnored = 15,         // words of other stacks are read without asking
  kLeafJoinRemembered = 16,         // a leaf entry joins where it did in an earlier last stack
  kRecentRulesOutliveObjects = 17,  // unloaded objects keep the rules that were made last
  kProgressOutlivesObjects = 18,    // unloaded objects keep how far a program has run
  kLeafPairsHalfVerified = 19,      // of words that are pairs in a leaf entry one is compared
  kLeafEndNotVerified = 20,         // of a leaf entry the words of the first group are compared
  kLeafJoinOnSpAlone = 21,          // pc is not compared where a leaf entry joins by another way
  kLeafNewJoinBpIgnored = 22,       // rbp is not compared there
  kLeafOuterWordsNotVerified = 23,  // what lies outside of it is believed
};

// The one that the process has. Defined by test/unwind.
extern const Mutant the_mutant;

MALLOW_ALWAYS_INLINE bool Is(Mutant mutant) {
  if constexpr (MALLOW_MUTANTS != 0) return mutant == the_mutant;
  return false;
}

}  // namespace mallow::record
