// Allocates a little, or nothing, and prints the kernel's account of the process and libmallow's of its own structures,
// without a further allocation.
//
//   start_memory BLOCKS FROM TO      BLOCKS blocks of each power of two of bytes from FROM to TO
#include <fcntl.h>
#include <mallow/mallow.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((weak)) size_t mallow_statistics(struct mallow_statistics* statistics, size_t size);

static char account[1 << 16];

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const long blocks = strtol(argv[1], NULL, 10), from = strtol(argv[2], NULL, 10),
             to = strtol(argv[3], NULL, 10);
  for (long bytes = from; bytes <= to; bytes *= 2) {
    for (long i = 0; i < blocks; ++i) {
      if (malloc(bytes) == NULL) return 1;
    }
  }
  const int file = open("/proc/self/smaps_rollup", O_RDONLY);
  if (file < 0) return 1;
  ssize_t length;
  while ((length = read(file, account, sizeof(account))) > 0) {
    if (write(STDOUT_FILENO, account, length) != length) return 1;
  }
  if (mallow_statistics != NULL) {
    struct mallow_statistics own;
    mallow_statistics(&own, sizeof(own));
    dprintf(STDOUT_FILENO, "Structures: %llu kB\n", (unsigned long long)own.metadata_resident_bytes >> 10);
  }
  return length < 0;
}
