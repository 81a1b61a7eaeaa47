/* The names of TCMalloc's extension interface for C, served by libmallow.
 *
 * What malloc_extension_c.h of gperftools declares, with the same signatures. All functions may be called from any
 * thread at any time. Functions that return int return 1 for yes and 0 for no, unless said otherwise. Those that look
 * at the whole heap take each of its locks once, for some microseconds.
 */
#ifndef MALLOW_TC_EXTENSION_H
#define MALLOW_TC_EXTENSION_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of a histogram of live blocks by the logarithm of their size. */
#define kMallocExtensionHistogramSize 64

/* 1 always: damage ends the process where it is found. */
int MallocExtension_VerifyAllMemory(void);
/* 1 for null and for the start of a block of this heap, also of a small one that was freed. Which of the families allocated
 * it is not kept. */
int MallocExtension_VerifyNewMemory(const void* p);
int MallocExtension_VerifyArrayNewMemory(const void* p);
int MallocExtension_VerifyMallocMemory(const void* p);

/* Live blocks: their number, their bytes, and their number by size: histogram[i] counts those of 2^i to 2^(i+1) - 1
 * bytes. Of what the blocks can hold, not of what was asked for; blocks above 256 KiB count by their mean. Returns 1. */
int MallocExtension_MallocMemoryStats(int* blocks, size_t* bytes,
                                      int histogram[kMallocExtensionHistogramSize]);

/* Text for people into buffer, cut to `length` bytes with its terminating zero. */
void MallocExtension_GetStats(char* buffer, int length);

/* The properties, all in bytes:
 *   generic.current_allocated_bytes            what live blocks can hold
 *   generic.heap_size                          mapped from the system for blocks
 *   generic.total_physical_bytes               the same less what was given back, and what is in memory of our structures
 *   tcmalloc.slack_bytes                       free pages, given back or not
 *   tcmalloc.pageheap_free_bytes               free pages that may hold memory
 *   tcmalloc.pageheap_unmapped_bytes           free pages that were given back
 *   tcmalloc.pageheap_committed_bytes          generic.heap_size less what was given back
 *   tcmalloc.central_cache_free_bytes          free blocks in spans that also hold live or cached ones
 *   tcmalloc.transfer_cache_free_bytes         free blocks on their way from thread to thread
 *   tcmalloc.thread_cache_free_bytes           free blocks in the caches of threads
 *   tcmalloc.current_total_thread_cache_bytes  the same
 * 0: there is no such property. None can be set. */
int MallocExtension_GetNumericProperty(const char* property, size_t* value);
int MallocExtension_SetNumericProperty(const char* property, size_t value);

/* The thread will not allocate for a while: its cache goes back to the others. */
void MallocExtension_MarkThreadIdle(void);
void MallocExtension_MarkThreadBusy(void);
void MallocExtension_MarkThreadTemporarilyIdle(void);
/* Free bytes in the caches of all threads: those of the calling one are not counted apart. */
size_t MallocExtension_GetThreadCacheSize(void);

/* Gives free pages back to the system: so many bytes at least if there are so many, or all. */
void MallocExtension_ReleaseToSystem(size_t bytes);
void MallocExtension_ReleaseFreeMemory(void);

/* The bytes that a block of so many bytes would have. */
size_t MallocExtension_GetEstimatedAllocatedSize(size_t bytes);
/* The bytes that the block at p has; 0 where no block of this heap starts. */
size_t MallocExtension_GetAllocatedSize(const void* p);

typedef enum {
  MallocExtension_kUnknownOwnership = 0,
  MallocExtension_kOwned,
  MallocExtension_kNotOwned
} MallocExtension_Ownership;

/* Whether p points into memory of this heap. Nanoseconds. */
MallocExtension_Ownership MallocExtension_GetOwnership(const void* p);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
