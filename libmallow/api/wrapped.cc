// Functions that are made of others: they call the public malloc and realloc, because a program may bring
// its own. While recording, what they allocate counts as theirs, called from where they were called.
#include <cerrno>
#include <cstring>
#include <cwchar>

#include "api/caller.h"
#include "api/export.h"
#include "api/slow.h"
#include "api/startup.h"

extern "C" {
void* malloc(size_t bytes);
void* realloc(void* p, size_t bytes);
}

using namespace mallow::api;
using mallow::record::Registers;

namespace {

// One wrapped call, from Begin to End. Not a recording process: costs one test.
class Wrapped {
 public:
  Wrapped(Function function, const void* argument, const Registers& caller) : active_(Recording()) {
    if (MALLOW_UNLIKELY(active_)) {
      mallow::record::BeginWrapped(function, reinterpret_cast<uintptr_t>(argument), caller);
    }
  }
  ~Wrapped() {
    if (MALLOW_UNLIKELY(active_)) mallow::record::EndWrapped();
  }

 private:
  static bool Recording() {
    EnsureStarted();
    return mallow::record::g_recording;
  }

  const bool active_;
};

MALLOW_NOINLINE void* MallocAs(Function function, const void* text, size_t bytes, const Registers& caller) {
  const Wrapped wrapped(function, text, caller);
  return malloc(bytes);
}

MALLOW_NOINLINE char* Duplicate(Function function, const char* text, size_t length, const Registers& caller) {
  auto* copy = static_cast<char*>(MallocAs(function, text, length + 1, caller));
  if (copy == nullptr) return nullptr;
  copy[length] = '\0';
  return static_cast<char*>(memcpy(copy, text, length));
}

MALLOW_NOINLINE char* DuplicateAll(const char* text, const Registers& caller) {
  return Duplicate(Function::kStrdup, text, strlen(text), caller);
}

MALLOW_NOINLINE char* DuplicateSome(const char* text, size_t most, const Registers& caller) {
  return Duplicate(Function::kStrndup, text, strnlen(text, most), caller);
}

MALLOW_NOINLINE wchar_t* DuplicateWide(const wchar_t* text, const Registers& caller) {
  const size_t bytes = (wcslen(text) + 1) * sizeof(wchar_t);
  void* copy = MallocAs(Function::kWcsdup, text, bytes, caller);
  return copy == nullptr ? nullptr : static_cast<wchar_t*>(memcpy(copy, text, bytes));
}

MALLOW_NOINLINE void* ReallocateArray(void* p, size_t count, size_t bytes, const Registers& caller) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    EnsureStarted();
    if (mallow::record::g_recording) mallow::record::NoteFailed(Function::kReallocarray, SIZE_MAX, caller);
    errno = ENOMEM;
    return nullptr;
  }
  const Wrapped wrapped(Function::kReallocarray, nullptr, caller);
  return realloc(p, total);
}

}  // namespace

extern "C" {

MALLOW_ALIGNS_STACK MALLOW_EXPORT char* strdup(const char* text) {
  Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return DuplicateAll(text, caller);
}

MALLOW_ALIGNS_STACK MALLOW_EXPORT char* strndup(const char* text, size_t most) {
  Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return DuplicateSome(text, most, caller);
}

MALLOW_ALIGNS_STACK MALLOW_EXPORT wchar_t* wcsdup(const wchar_t* text) {
  Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return DuplicateWide(text, caller);
}

MALLOW_ALIGNS_STACK MALLOW_EXPORT void* reallocarray(void* p, size_t count, size_t bytes) {
  Registers caller;
  MALLOW_CAPTURE_CALLER(caller);
  return ReallocateArray(p, count, bytes, caller);
}

MALLOW_ALIAS(reallocarray) void* __libc_reallocarray(void*, size_t, size_t);

}  // extern "C"
