#include "heap/damage.h"

#include "base/check.h"
#include "heap/thread_registry.h"

namespace mallow::heap {

void DieOfDamage(const char* sentence, const void* object) {
  CloseHitPaths();
  thread_words.cache = kThreadEnded;
  DieAt(sentence, object);
}

}  // namespace mallow::heap
