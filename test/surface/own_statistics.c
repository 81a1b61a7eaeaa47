// mallow_statistics, malloc_info and mallinfo2 say the same, and their parts add up, at each step of a random program.
#include <malloc.h>
#include <stdint.h>

#include "check.h"
#include "mallow/mallow.h"

#ifndef MALLOW_LINKED
#pragma weak mallow_statistics
#endif

enum { kSteps = 5000, kBlocks = 500 };
static void* blocks[kBlocks];
static uint64_t usable, count;

static uint64_t Random(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static struct mallow_statistics Statistics(void) {
  struct mallow_statistics heap;
  CHECK(mallow_statistics(&heap, sizeof(heap)) == sizeof(heap));
  CHECK(heap.system_bytes == heap.in_use_bytes + heap.thread_cache_bytes + heap.transfer_cache_bytes +
                                 heap.central_list_bytes + heap.page_heap_bytes + heap.tail_bytes);
  CHECK(heap.returned_bytes <= heap.page_heap_bytes);
  return heap;
}

static void Step(void) {
  void** slot = &blocks[Random() % kBlocks];
  const size_t size = Random() % ((size_t)1 << (4 + Random() % 18));
  usable -= malloc_usable_size(*slot);
  if (*slot == NULL) {
    CHECK((*slot = malloc(size)) != NULL);
    ++count;
  } else if (Random() % 3 == 0) {
    CHECK((*slot = realloc(*slot, size + 1)) != NULL);
  } else {
    free(*slot);
    *slot = NULL;
    --count;
  }
  usable += malloc_usable_size(*slot);
}

// The number behind `name="` in [text, end).
static uint64_t Attribute(const char* text, const char* end, const char* name) {
  char pattern[32];
  snprintf(pattern, sizeof(pattern), " %s=\"", name);
  const char* at = strstr(text, pattern);
  CHECK(at != NULL && at < end);
  return strtoull(at + strlen(pattern), NULL, 10);
}

static void ReadTotal(const char* line, const char* prefix, uint64_t* bytes, uint64_t* blocks) {
  if (strncmp(line, prefix, strlen(prefix)) != 0) return;
  *bytes = Attribute(line, strchr(line, '\n'), "size");
  if (blocks != NULL) *blocks = Attribute(line, strchr(line, '\n'), "count");
}

struct Info {
  uint64_t free_bytes, free_count, in_use_count;  // sums of the lines
  uint64_t fast, fast_count, rest, rest_count, mmap, mmap_count, current, all;
};

static struct Info ReadInfo(void) {
  static char text[64 * 1024];
  FILE* stream = fmemopen(text, sizeof(text), "w");
  CHECK(stream != NULL && malloc_info(0, stream) == 0 && fclose(stream) == 0);
  struct Info info = {0};
  for (const char* line = text; *line != 0; line = strchr(line, '\n') + 1) {
    const char* end = strchr(line, '\n');
    const int is_size = strncmp(line, "<size ", 6) == 0;
    if (is_size) info.in_use_count += Attribute(line, end, "in_use");
    if (is_size || strncmp(line, "<large ", 7) == 0 || strncmp(line, "<pages ", 7) == 0) {
      info.free_bytes += Attribute(line, end, "total");
      info.free_count += Attribute(line, end, "count");
    }
    // The totals of the only heap and of all heaps are equal: the last ones stay.
    ReadTotal(line, "<total type=\"fast\"", &info.fast, &info.fast_count);
    ReadTotal(line, "<total type=\"rest\"", &info.rest, &info.rest_count);
    ReadTotal(line, "<total type=\"mmap\"", &info.mmap, &info.mmap_count);
    ReadTotal(line, "<system type=\"current\"", &info.current, NULL);
    ReadTotal(line, "<aspace type=\"total\"", &info.all, NULL);
  }
  return info;
}

static void CompareAll(void) {
  // The first use of a stream allocates: once before the figures are taken.
  ReadInfo();
  const struct mallow_statistics heap = Statistics();
  const struct mallinfo2 old = mallinfo2();
  CHECK(old.arena == old.uordblks + old.fordblks);
  CHECK(old.arena + old.hblkhd == heap.system_bytes);
  CHECK(old.uordblks + old.hblkhd == heap.in_use_bytes + heap.tail_bytes);
  CHECK(old.hblks == heap.large_blocks && old.hblkhd == heap.large_bytes);
  CHECK(old.fsmblks == heap.thread_cache_bytes);

  const struct Info info = ReadInfo();
  CHECK(info.free_bytes == info.fast + info.rest && info.free_count == info.fast_count + info.rest_count);
  CHECK(info.mmap == heap.large_bytes && info.mmap_count == heap.large_blocks);
  CHECK(info.all == heap.system_bytes && info.current == heap.system_bytes - heap.returned_bytes);
  // While it is read the stream has its block and its buffer.
  CHECK(info.in_use_count + info.mmap_count >= heap.in_use_blocks &&
        info.in_use_count + info.mmap_count <= heap.in_use_blocks + 4);
}

static uint64_t LargeBlocks(void) { return Statistics().large_blocks; }

// What mallow.h calls a large block. REQUIRES: the thread's cache holds nothing.
static void CompareLarge(void) {
  const uint64_t before = LargeBlocks();
  void* const most = malloc(256 << 10);
  CHECK(LargeBlocks() == before);
  void* const longer = malloc((256 << 10) + 1);
  CHECK(LargeBlocks() == before + 1);
  void* grown = realloc(malloc(100), 31 << 10);
  CHECK(LargeBlocks() == before + 1);
  grown = realloc(grown, 40 << 10);
  CHECK(LargeBlocks() == before + 2);
  void* const aligned = memalign(8 << 10, 100);
  CHECK(LargeBlocks() == before + 2);
  void* const more_aligned = memalign(16 << 10, 100);
  CHECK(LargeBlocks() == before + 3);
  free(most);
  free(longer);
  free(grown);
  free(aligned);
  free(more_aligned);
  CHECK(LargeBlocks() == before);
}

int main(void) {
  // The first block, so that there is something to tell of.
  free(malloc(1));
  CompareLarge();
  // A caller of an older and of a newer header.
  struct {
    struct mallow_statistics known;
    uint64_t unknown;
  } newer;
  memset(&newer, 0xff, sizeof(newer));
  CHECK(mallow_statistics(&newer.known, 8) == sizeof(newer.known));
  CHECK(newer.known.system_bytes > 0 && newer.known.in_use_bytes == UINT64_MAX);
  CHECK(mallow_statistics(&newer.known, sizeof(newer)) == sizeof(newer.known));
  CHECK(newer.known.map_calls > 0 && newer.unknown == 0);
  // Our structures for one small block.
  CHECK(newer.known.metadata_resident_bytes > 0 && newer.known.metadata_resident_bytes < 1 << 20);

  const struct mallow_statistics before = Statistics();
  for (int step = 0; step < kSteps; ++step) {
    Step();
    const struct mallow_statistics heap = Statistics();
    CHECK(heap.in_use_bytes - before.in_use_bytes == usable);
    CHECK(heap.in_use_blocks - before.in_use_blocks == count);
  }
  CompareAll();
  malloc_trim(0);
  CompareAll();
  return 0;
}
