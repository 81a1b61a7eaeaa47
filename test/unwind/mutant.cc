#include "record/mutant.h"

#include <cstdlib>

namespace mallow::record {
namespace {

Mutant Chosen() {
  const char* const number = getenv("MALLOW_MUTANT");
  return number == nullptr ? Mutant::kNone : static_cast<Mutant>(atoi(number));
}

}  // namespace

const Mutant the_mutant = Chosen();

}  // namespace mallow::record
