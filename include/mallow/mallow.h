/* The C interface of libmallow, beside malloc.h itself.
 *
 * A program need not be linked with libmallow to use it: declare the function weak, and it is null when
 * libmallow is not there. All functions may be called from any thread at any time and never fail.
 */
#ifndef MALLOW_MALLOW_H
#define MALLOW_MALLOW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "MAJOR.MINOR.PATCH" of the libmallow that serves this process. Static text. */
const char* mallow_version(void);

/* 1 while the allocations of this process are being recorded, else 0. */
int mallow_is_recording(void);

/* What the heap holds, in bytes unless a name says otherwise. Later versions may add fields at the end.
 *
 * Every byte that was mapped from the system for blocks is in exactly one part:
 *   system_bytes = in_use_bytes + thread_cache_bytes + transfer_cache_bytes + central_list_bytes + page_heap_bytes
 *                  + tail_bytes
 * The process's resident set holds at most system_bytes - returned_bytes for blocks (less where memory was never
 * touched), metadata_resident_bytes for our own structures, and what was touched of the library's static data.
 *
 * Exact while no other thread is inside malloc or free. Otherwise each field is right for some moment during the call:
 * a block that moved meanwhile may be counted twice or not at all. In a child of fork, what waited in the caches of the
 * parent's other threads counts as in use.
 */
struct mallow_statistics {
  uint64_t system_bytes;            /* mapped from the system for blocks */
  uint64_t in_use_bytes;            /* usable bytes (malloc_usable_size) of the live blocks */
  uint64_t thread_cache_bytes;      /* free blocks that wait in the caches of threads */
  uint64_t transfer_cache_bytes;    /* free blocks on their way from thread to thread */
  uint64_t central_list_bytes;      /* free blocks in spans that also hold live or cached ones */
  uint64_t page_heap_bytes;         /* free pages */
  uint64_t tail_bytes;              /* ends of spans, too short for a block */
  uint64_t returned_bytes;          /* of page_heap_bytes: hold no memory at present */
  uint64_t metadata_bytes;          /* address space of our own structures, beside system_bytes */
  uint64_t in_use_blocks;           /* number of live blocks */
  uint64_t large_blocks;            /* of these, longer than 256 KiB */
  uint64_t large_bytes;             /* of in_use_bytes: in large blocks */
  uint64_t thread_caches;           /* number of threads that have a cache */
  uint64_t map_calls;               /* number of mmap calls so far, failed ones too */
  uint64_t metadata_resident_bytes; /* of our own structures, in memory at present; 0: unknown */
};

/* Fills in *statistics, which has `size` bytes: sizeof(struct mallow_statistics) as the caller was compiled. Fields
 * that this libmallow does not know become 0. Returns how many bytes it knows. Takes each lock of the heap once, for
 * some microseconds in all, and asks the system about the pages of our structures; allocates nothing. */
size_t mallow_statistics(struct mallow_statistics* statistics, size_t size);

/* The settings that MALLOW_OPTIONS knows, one line each: name, two blanks, what it does. Static text. */
const char* mallow_options_help(void);

#ifdef __cplusplus
}
#endif

#endif
