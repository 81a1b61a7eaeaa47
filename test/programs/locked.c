/* Locks all memory that it will be given, of which the system allows it 8 MiB, and then does for each byte that it reads a
 * round: 1,000 blocks of 16 bytes in often(), and 2 of 1 MiB in large(). After each it writes a '.'. It ends with status 1
 * where it is refused memory, and with 77 where it may not lock any, or any amount. */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMiB = 1 << 20 };

static void __attribute__((noinline)) often(void) {
  for (int i = 0; i < 1000; ++i) {
    char* volatile p = malloc(16);
    if (p == NULL) _exit(1);
    free(p);
  }
}

static void __attribute__((noinline)) large(void) {
  void* blocks[2];
  for (int i = 0; i < 2; ++i) {
    blocks[i] = malloc(kMiB);
    if (blocks[i] == NULL) _exit(1);
    memset(blocks[i], 1, kMiB);
  }
  for (int i = 0; i < 2; ++i) free(blocks[i]);
}

int main(void) {
  const struct rlimit limit = {8 * kMiB, 8 * kMiB};
  if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 77;
  /* No limit holds for whoever may lock memory, as root does. */
  struct __user_cap_header_struct self = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  if (syscall(SYS_capset, &self, none) != 0 || mlockall(MCL_FUTURE) != 0) return 77;
  char order;
  if (write(1, ".", 1) != 1) return 1;
  while (read(0, &order, 1) == 1) {
    often();
    large();
    if (write(1, ".", 1) != 1) return 1;
  }
  return 0;
}
