#include "heap/damage.h"

#include "base/check.h"
#include "base/text.h"
#include "heap/thread_registry.h"

namespace mallow::heap {

void DieOfNoBlock(const char* call, const void* p) {
  TextBuffer sentence;
  sentence.Append(call).Append(": the pointer is not the start of a block, or the block was freed before");
  DieAt(sentence.data(), p);
}

void DieOfDamage(const char* sentence, const void* object) {
  CloseHitPaths();
  thread_words.cache = kThreadEnded;
  DieAt(sentence, object);
}

}  // namespace mallow::heap
