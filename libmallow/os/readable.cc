#include "os/readable.h"

#include <errno.h>
#include <sys/syscall.h>

#include "base/syscall.h"

namespace mallow::os {

bool IsReadable(uintptr_t address) {
  if (address == 0) return false;  // which the kernel takes for "no argument"
  constexpr long kNoSuchRequest = -1;
  return SystemCall(SYS_rt_sigprocmask, kNoSuchRequest, static_cast<long>(address), 0, sizeof(uintptr_t)) !=
         -EFAULT;
}

}  // namespace mallow::os
