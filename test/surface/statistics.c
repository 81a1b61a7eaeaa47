// What malloc.h says of the heap is said of the heap that serves the program.
#include <malloc.h>
#include <stdint.h>

#include "check.h"

enum { kCount = 2000, kBytes = 10000 };
static void* blocks[kCount];

static int IsWellFormed(const char* xml) {
  const char* open[32];
  size_t lengths[32];
  int depth = 0;
  while ((xml = strchr(xml, '<')) != NULL) {
    const char* end = strchr(xml, '>');
    if (end == NULL) return 0;
    if (xml[1] == '/') {
      const size_t length = end - xml - 2;
      if (depth-- == 0 || length != lengths[depth] || strncmp(xml + 2, open[depth], length) != 0) return 0;
    } else if (end[-1] != '/') {
      if (depth == 32) return 0;
      open[depth] = xml + 1;
      lengths[depth++] = strcspn(xml + 1, " >");
    }
    xml = end;
  }
  return depth == 0;
}

static char* Info(void) {
  char* text = NULL;
  size_t length;
  FILE* stream = open_memstream(&text, &length);
  CHECK(malloc_info(0, stream) == 0);
  fclose(stream);
  return text;
}

static uint64_t InfoSystemBytes(void) {
  char* text = Info();
  CHECK(strncmp(text, "<malloc version=\"1\">", 20) == 0 && IsWellFormed(text));
  // The last one is that of all heaps.
  uint64_t bytes = 0;
  for (const char* at = text; (at = strstr(at, "<system type=\"current\" size=\"")) != NULL; ++at) {
    bytes = strtoull(at + 29, NULL, 10);
  }
  free(text);
  return bytes;
}

int main(void) {
  const struct mallinfo2 before = mallinfo2();
  const uint64_t system_before = InfoSystemBytes();
  for (int i = 0; i < kCount; ++i) memset(blocks[i] = malloc(kBytes), 1, kBytes);
  const struct mallinfo2 full = mallinfo2();
  const struct mallinfo narrow = mallinfo();
  const size_t least = (size_t)kCount * kBytes;
  CHECK(full.uordblks >= before.uordblks + least);
  CHECK(full.uordblks <= before.uordblks + least * 5 / 4);
  CHECK(full.arena + full.hblkhd >= full.uordblks);
  CHECK((size_t)narrow.uordblks >= full.uordblks - 65536 && (size_t)narrow.uordblks <= full.uordblks + 65536);
  CHECK(InfoSystemBytes() >= system_before + least * 9 / 10);
  for (int i = 0; i < kCount; ++i) free(blocks[i]);
  const struct mallinfo2 after = mallinfo2();
  CHECK(after.uordblks <= before.uordblks + 65536);
  // A large block shows while it is there.
  void* large = malloc(100 << 20);
  memset(large, 1, 100);
  CHECK(mallinfo2().uordblks + mallinfo2().hblkhd >= after.uordblks + (100 << 20));
  free(large);
  CHECK(malloc_info(1, stdout) == EINVAL);
  malloc_trim(0);
  malloc_stats();
  return 0;
}
