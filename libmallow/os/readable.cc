#include "os/readable.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/bits.h"
#include "base/syscall.h"
#include "os/memory.h"
#include "os/valgrind.h"

namespace mallow::os {

// Valgrind says each time that it does not know the request of sigprocmask.
static bool IsFutexReadable(uintptr_t address) {
  constexpr timespec kNoTime = {};
  constexpr uintptr_t kAlignment = alignof(uint32_t);
  return SystemCall(SYS_futex, static_cast<long>(address & ~(kAlignment - 1)), FUTEX_WAIT_PRIVATE, 0,
                    reinterpret_cast<long>(&kNoTime)) != -EFAULT;
}

bool IsReadable(uintptr_t address) {
  if (address == 0) return false;  // which the kernel takes for "no argument"
  if (IsOnValgrind()) return IsFutexReadable(address);
  constexpr long kNoSuchRequest = -1;
  return SystemCall(SYS_rt_sigprocmask, kNoSuchRequest, static_cast<long>(address), 0, sizeof(uintptr_t)) !=
         -EFAULT;
}

bool ReadablePages::Has(const void* begin, size_t bytes) {
  if (bytes == 0) return true;
  const uintptr_t page_bytes = PageSize(), start = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t last = (start + bytes - 1) & ~(page_bytes - 1);
  for (uintptr_t page = start & ~(page_bytes - 1); page <= last; page += page_bytes) {
    if (Knows(page)) continue;
    if (!IsReadable(page)) return false;
    known_[learned_++ % kMost] = page;
  }
  return true;
}

bool ReadablePages::Knows(uintptr_t page) const {
  for (unsigned i = 0; i < Min(learned_, kMost); ++i) {
    if (known_[i] == page) return true;
  }
  return false;
}

}  // namespace mallow::os
