#include "base/check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/syscall.h"
#include "base/text.h"

namespace mallow {
namespace {

constexpr int kStandardError = 2;

// One write, so that sentences of several threads do not mix.
[[noreturn]] void WriteAndAbort(const TextBuffer& text) {
  SystemCall(SYS_write, kStandardError, reinterpret_cast<long>(text.data()), static_cast<long>(text.size()));
  abort();
}

}  // namespace

void Die(const char* sentence) {
  TextBuffer text;
  WriteAndAbort(text.Append("mallow: ").Append(sentence).Append("\n"));
}

void DieAt(const char* sentence, const void* address) {
  TextBuffer text;
  text.Append("mallow: ").Append(sentence).Append(" (").AppendHex(reinterpret_cast<uintptr_t>(address));
  WriteAndAbort(text.Append(")\n"));
}

void DieUnheard() {
  // As the kernel has it: handler, flags, restorer, mask.
  const uint64_t by_default[4] = {};
  SystemCall(SYS_rt_sigaction, SIGABRT, reinterpret_cast<long>(by_default), 0, sizeof(by_default[3]));
  abort();
}

void CheckFailed(const char* condition, const char* file, int line) {
  TextBuffer text;
  text.Append("mallow: internal check failed: ").Append(condition).Append(" at ").Append(file).Append(":");
  WriteAndAbort(text.AppendDecimal(static_cast<uint64_t>(line)).Append("\n"));
}

}  // namespace mallow
